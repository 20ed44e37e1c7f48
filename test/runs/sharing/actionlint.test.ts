/**
 * Workflow files as actionlint sees them: types of expressions, inputs of actions (of this project's own, too) and, where there is
 * a shellcheck, shell scripts. It is a Go module; without Go this is skipped. And as zizmor does: credentials that are left behind,
 * caches that another workflow can fill, rights that are too wide. It is a module of Python; without it this is skipped.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesFor } from '../../../cli/init/templates.js';
import { findOnPath, runProgram } from '../../../harness/machine/command.js';
import { ROOT } from '../../support/torture.js';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7';
const WITHIN_MS = 280_000;
const go = findOnPath('go');

/** A repository with this project's action at its root, as a workflow of its own would use it. */
let repository: string;
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'lock-torture-actionlint-'));
  mkdirSync(join(repository, '.git'));
  mkdirSync(join(repository, '.github/workflows'), { recursive: true });
  copyFileSync(join(ROOT, 'action.yml'), join(repository, 'action.yml'));
});
afterAll(() => rmSync(repository, { recursive: true }));

/** Its exit status and what it printed; undefined: it could not be fetched. */
async function lint(files: readonly string[]) {
  const argv = ['go', 'run', ACTIONLINT, '-no-color', ...files];
  const { exitCode, stdout, stderr } = await runProgram(argv, { cwd: repository, timeoutMs: WITHIN_MS });
  return /dial tcp|no such host|i\/o timeout/.test(stderr) ? undefined : { status: exitCode, stdout, stderr };
}

function workflow(name: string, text: string): string {
  const path = join(repository, '.github/workflows', name);
  writeFileSync(path, text);
  return path;
}

/** A job that takes the action with these inputs. */
const using = (inputs: Record<string, string>) =>
  workflow(
    'uses.yml',
    `on: push
jobs:
  lock:
    runs-on: ubuntu-24.04
    steps:
      - id: lock
        uses: ./
        with: ${JSON.stringify(inputs)}
      - run: echo "$VERDICT"
        env:
          VERDICT: \${{ steps.lock.outputs.verdict }}
`,
  );

/** Ours, an example, and what init writes. */
function workflows(): string[] {
  const written = (['npm', 'pnpm', 'yarn'] as const).flatMap((manager) =>
    filesFor(
      {
        ...{ typescript: false, esm: true, runner: 'node', manager, locked: true, packages: [] },
        inRepository: manager === 'npm' ? '' : `packages/${manager}: 'its' "own" #1`,
        ...{ packageJson: undefined, gitignore: undefined },
      },
      { file: 'lock.js', topology: 'single', loses: undefined, leaseMs: undefined },
    )
      .filter(({ path }) => path.endsWith('.yml'))
      .map(({ text }) => workflow(`init-${manager}.yml`, text)),
  );
  expect(written.length).toBe(3);
  const own = join(ROOT, '.github/workflows');
  return [
    ...readdirSync(own).map((name) => join(own, name)),
    join(ROOT, 'examples/ci/github-campaign.yml'),
    ...written,
  ];
}

it('no workflow has a mistake that actionlint knows: neither ours, nor an example, nor what init writes, nor who uses the action', {
  timeout: WITHIN_MS,
}, async ({ skip }) => {
  if (!go) skip('there is no Go here');
  const found = await lint([
    ...workflows(),
    using({
      lock: './my-lock.ts',
      topologies: 'single',
      images: 'redis:8',
      minutes: '2',
      'fail-on': 'lock',
      flags: '',
    }),
  ]);
  if (!found) return skip('the module could not be fetched');
  expect([found.status, found.stdout], found.stderr).toEqual([0, '']);
});

it('an input that the action does not have is a mistake', { timeout: WITHIN_MS }, async ({ skip }) => {
  if (!go) skip('there is no Go here');
  const found = await lint([using({ topology: 'single' })]);
  if (!found) return skip('the module could not be fetched');
  expect(found.status).toBe(1);
  expect(found.stdout).toMatch(/input "topology" is not defined in action "lock-torture"/);
});

it('no workflow, nor the action, has a weakness that zizmor knows', async ({ skip }) => {
  const python = process.env.LOCK_TORTURE_TEST_PYTHON;
  const zizmor = python && join(dirname(python), 'zizmor');
  if (!zizmor || !existsSync(zizmor)) return skip('there is no zizmor beside LOCK_TORTURE_TEST_PYTHON');
  const audit = async (files: readonly string[]) => {
    // Its text is coloured or not by the environment that the tests run in.
    const argv = [zizmor, '--offline', '--no-progress', '--format', 'json', ...files];
    const { exitCode, stdout } = await runProgram(argv, { cwd: repository, timeoutMs: WITHIN_MS });
    const findings: { ident: string; determinations: { severity: string } }[] = JSON.parse(stdout);
    return { exitCode, found: findings.map(({ ident, determinations }) => `${determinations.severity}: ${ident}`) };
  };
  expect(await audit([...workflows(), join(ROOT, 'action.yml')])).toEqual({ exitCode: 0, found: [] });
  // And it sees one.
  const careless = workflow(
    'careless.yml',
    'on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: a/b@v1\n',
  );
  expect((await audit([careless])).found).toContain('High: unpinned-uses');
});
