/**
 * What npm makes of the tool where it comes from no registry: tarballs of `npm run packages`, in an empty folder and beside packages
 * that a project has for other reasons; and git. With the npm that Node 20 comes with (10), that of Node 24 (11), and the newest.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended } from '../../support/ended.js';
import { ROOT } from '../../support/torture.js';

const execute = promisify(execFile);
const PACK = join(ROOT, 'packages/pack.mjs');
/** Majors of npm, and where each is run from. */
const NPMS = [10, 11, 12] as const;

let home: string;
/** What `npm run packages` printed. */
let told: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lock-torture-npm-'));
  const programs = folder('programs');
  const npms = NPMS.map((major) => `npm-${major}@npm:npm@${major}`);
  mkdirSync(packed());
  for (const name of ['lock-torture-0.0.9.tgz', 'lock-torture-linux-arm64-0.0.9.tgz', 'others-1.0.0.tgz'])
    writeFileSync(join(packed(), name), '');
  const [packing] = await Promise.all([
    execute(process.execPath, [PACK, packed()]),
    execute('npm', ['install', ...QUIET, ...npms], { cwd: programs }),
  ]);
  told = packing.stdout;
});

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

const QUIET = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];

/** Runs this major of npm there; rejects where it fails, with what it said. */
function npm(major: (typeof NPMS)[number], argv: readonly string[], cwd: string) {
  const program = join(home, 'programs/node_modules', `npm-${major}`, 'bin/npm-cli.js');
  return execute(process.execPath, [program, ...argv], {
    cwd,
    env: { PATH: process.env.PATH!, HOME: process.env.HOME! },
  });
}

/** The folder of this name, made where it is missing. */
function folder(name: string): string {
  mkdirSync(join(home, name), { recursive: true });
  return join(home, name);
}

/** Where the tarballs are: in a folder whose name a shell would read as two words. */
function packed(): string {
  return join(home, 'my packed');
}

/** Their paths. */
function tarballs(): string[] {
  const names = readdirSync(packed()).filter((name) => name.startsWith('lock-torture-'));
  return names.map((name) => join(packed(), name));
}

describe('npm run packages', () => {
  it('makes the tool and the parts of this platform, removes those of an earlier time, and prints the line that installs them', () => {
    const names = readdirSync(packed()).sort();
    expect(names.pop()).toBe('others-1.0.0.tgz');
    expect(names).toEqual([
      expect.stringMatching(/^lock-torture-\d+\.\d+\.\d+\.tgz$/),
      expect.stringMatching(new RegExp(`^lock-torture-linux-${process.arch}-\\d.*\\.tgz$`)),
    ]);
    const line = told.split('\n').find((one) => one.startsWith('  npm i '))!;
    // As a shell reads it.
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(words).toEqual(['npm', 'i', '-D', ...names.map((name) => join(packed(), name))]);
  });

  it.each([[['--every']], [['one', 'two']]])('refuses %j in one line', async (argv) => {
    const failed = await execute(process.execPath, [PACK, ...argv]).catch((error) => error);
    expect(failed.code).toBe(3);
    expect(failed.stderr).toMatch(/^lock-torture: [^\n]+: npm run packages -- \[FOLDER\] \[--all\] \[--json\]\n$/);
  });
});

describe.concurrent.each(NPMS)('npm %d', (major) => {
  it('takes all that was packed, in an empty folder, and asks no registry for packages of ours', async () => {
    const empty = folder(`empty-${major}`);
    await npm(major, ['install', '--save-dev', '--package-lock-only', ...QUIET, ...tarballs()], empty);
    const { packages } = JSON.parse(readFileSync(join(empty, 'package-lock.json'), 'utf8'));
    const ours = Object.keys(packages).filter((path) => path.includes('lock-torture'));
    expect(ours).toEqual([`node_modules/@lock-torture/linux-${process.arch}`, 'node_modules/lock-torture']);
    for (const path of ours) expect(packages[path].resolved).toMatch(/^file:/);
    expect(packages['node_modules/lock-torture'].optionalDependencies).toBeUndefined();
  });

  // Which packages fit is decided by what they ask for: one npm tells it, and at night each.
  it.for([
    ['mongodb@6', 'testcontainers@10', 'pg@8.11', 'mysql2@2', 'ioredis@5', 'vitest@2'],
    ['mongodb@5', 'testcontainers@9', 'pg@7', 'mysql2@1', 'redis@4', 'vitest@3.0'],
  ])('takes it beside %s, %s, %s, %s, %s and %s', { tags: major === 11 ? [] : ['night'] }, async (others) => {
    const theirs = folder(`beside-${others.join('-')}-${major}`);
    await npm(major, ['install', '--save-dev', '--package-lock-only', ...QUIET, ...tarballs(), ...others], theirs);
    const { packages } = JSON.parse(readFileSync(join(theirs, 'package-lock.json'), 'utf8'));
    for (const other of others) {
      const [name, version] = other.split('@');
      expect(packages[`node_modules/${name}`].version, name).toMatch(new RegExp(`^${version}\\.`));
    }
    expect(packages['node_modules/lock-torture'].resolved).toMatch(/^file:/);
  });
});

describe.concurrent('from git', () => {
  let source: string;

  beforeAll(async () => {
    // What is committed, as whoever clones it gets it.
    const clone = join(home, 'clone');
    await execute('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
    source = `git+file://${clone}`;
  });

  // All that it takes to compile is installed for it: those that are left out here are tried every now and then.
  it.each(process.env.LOCK_TORTURE_TEST_DEEP === '1' ? NPMS : [11 as const])(
    'npm %d compiles it, and it runs',
    async (major) => {
      const theirs = folder(`git-${major}`);
      const allow = major === 12 ? ['--allow-git=root'] : [];
      await npm(
        major,
        ['install', '--save-dev', '--prefer-offline', '--no-audit', '--no-fund', ...allow, source],
        theirs,
      );
      const tool = join(theirs, 'node_modules/lock-torture');
      for (const path of ['package-lock.json', 'node_modules', 'test'])
        expect(existsSync(join(tool, path)), path).toBe(false);
      const said = await called(theirs, 'doctor');
      // It is a package, not a clone, and its parts in C came with it.
      expect(said.output).toMatch(/^ok +npm packages +\d+ as package.json asks for$/m);
      expect(said.output).not.toMatch(/installing|first run/);
      const parts = join(tool, 'packages', `linux-${process.arch}`);
      expect(readdirSync(parts).sort()).toEqual(
        expect.arrayContaining(['clock-shim.so', 'durable-shim.so', 'link-shaper']),
      );
      const run = ['--nemesis', 'none', '--time-limit', '2s', '--clients', '2', '--keys', '1', '--runtime', 'netns'];
      const tortured = await called(theirs, ...run);
      expect([0, 2], tortured.output).toContain(tortured.status);
      expect(tortured.output).toContain(`Report: ${join(theirs, 'runs')}/`);
      expect(tortured.output).toMatch(/^Reproduce: npx lock-torture /m);
    },
    900_000,
  );

  it('npm 12 wants to be told that git may be asked; without scripts nothing is compiled, which is one line and status 3', async () => {
    const theirs = folder('git-without-scripts');
    const refused = await npm(12, ['install', ...QUIET, source], theirs).catch((error) => error);
    expect(refused.stderr).toContain('EALLOWGIT');
    await npm(12, ['install', '--allow-git=root', ...QUIET, source], theirs);
    const { status, output, errors } = await called(theirs, '--topology', 'sentinel');
    expect(status).toBe(3);
    expect(output).toBe(errors);
    expect(errors).toMatch(
      /^lock-torture: [^\n]* has no dist\/: [^\n]*--ignore-scripts=false[^\n]*npm run packages[^\n]*\n$/,
    );
  });
});

/** `npx lock-torture` in this project. */
function called(project: string, ...argv: string[]) {
  const options = { cwd: project, env: { PATH: process.env.PATH!, HOME: process.env.HOME! }, stdio: 'pipe' as const };
  return ended(spawn(join(project, 'node_modules/.bin/lock-torture'), argv, options));
}
