/**
 * What package managers make of the tool where it comes from no registry: tarballs of `npm run packages`, in an empty folder and
 * beside packages that a project has for other reasons. With the npm that Node 20 comes with, that of this machine, and the
 * newest.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../support/torture.js';

const execute = promisify(execFile);
const PACK = join(ROOT, 'packages/pack.mjs');
/** Majors of npm, and where each is run from. */
const NPMS = [10, 11, 12] as const;

let home: string;
/** What `npm run packages` printed. */
let told: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lock-torture-installing-'));
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
});
