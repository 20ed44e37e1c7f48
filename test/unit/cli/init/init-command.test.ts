/** What `init` writes for which project, and that it overwrites nothing. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type InitFlags, initCommand } from '../../../../cli/init/init-command.js';
import { ROOT } from '../../../support/torture.js';

let folder: string;
let said: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-init-'));
  said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** The example, without a question. */
const init = (flags: Partial<InitFlags> = {}, at = folder) =>
  initCommand({ example: flags.lock === undefined, yes: true, force: false, dryRun: false, ...flags }, at);
const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
const there = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path) && !/^(package\.json|\.gitignore|\.github(\/workflows)?)$/.test(path))
    .sort();

test.each([
  ['an empty folder', undefined, ['lock-torture.config.mjs', 'my-lock.mjs', 'my-lock.test.mjs']],
  ['CommonJS', {}, ['lock-torture.config.mjs', 'my-lock.mjs', 'my-lock.test.mjs']],
  ['ES modules', { type: 'module' }, ['lock-torture.config.js', 'my-lock.js', 'my-lock.test.mjs']],
  [
    'TypeScript in CommonJS, where only .mts is an ES module',
    { devDependencies: { typescript: '5' } },
    ['lock-torture.config.mts', 'my-lock.mts', 'my-lock.test.mjs'],
  ],
  [
    'TypeScript with vitest',
    { type: 'module', devDependencies: { typescript: '5', vitest: '4' } },
    ['lock-torture.config.ts', 'my-lock.test.ts', 'my-lock.ts'],
  ],
  [
    'jest, which takes none of it for its own tests',
    { devDependencies: { jest: '30' } },
    ['jest.config.mjs', 'lock-torture.config.mjs', 'my-lock.mjs', 'my-lock.torture.mjs'],
  ],
])('%s', async (_what, packageJson, names) => {
  if (packageJson) write('package.json', JSON.stringify(packageJson));
  expect(await init()).toBe(0);
  expect(
    there()
      .map((path) => path.split('/').at(-1))
      .sort(),
  ).toEqual([...names, 'lock-torture.yml'].sort());
  const lock = names.find((name) => /^my-lock\.[a-z]+$/.test(name))!;
  const config = names.find((name) => name.startsWith('lock-torture.config.'))!;
  expect(readFileSync(join(folder, config), 'utf8')).toContain(`lock: './lock-torture/${lock}'`);
  const testFile = join(folder, 'lock-torture', names.find((name) => /\.(test|torture)\./.test(name))!);
  expect(readFileSync(testFile, 'utf8')).toContain(`'./${lock}'`);
  // Whatever the runner: what cannot be told passes nothing, nor does what is counted only.
  expect(readFileSync(testFile, 'utf8')).toMatch(
    /toHaveNoLockMistakes\(\)|assert\.equal\(result\.ownMistakes, 'none', story\(result\)\)/,
  );
  expect(said).toContain(`in a clone of lock-torture: npm run packages -- ${folder}/packed\n`);
  expect(said).toContain('npm i -D ./packed/*.tgz\n');
  // Every file that a script names was written.
  const { scripts } = JSON.parse(read('package.json'));
  expect(scripts).toMatchObject({
    torture: 'lock-torture',
    'test:torture': expect.stringMatching(/vitest|jest|node --test/),
  });
  for (const [path] of scripts['test:torture'].matchAll(/\S+\.mjs/g))
    expect(existsSync(join(folder, path)), path).toBe(true);
  expect(said).toContain('Then try: npm run torture, and npm run test:torture (which finds the mistake');
});

test.each([
  [undefined, 'npm i -D ./packed/*.tgz', /run: npm ci\n/, 'npm run torture', 'npm run torture -- '],
  ['package-lock.json', 'npm i -D ./packed/*.tgz', /run: npm ci\n/, 'npm run torture', 'npm run torture -- '],
  [
    'pnpm-lock.yaml',
    'pnpm add -D ./packed/*.tgz',
    /corepack enable\n.*run: pnpm install/,
    'pnpm run torture',
    'pnpm run torture ',
  ],
  [
    'yarn.lock',
    'yarn add -D $PWD/packed/*.tgz',
    /corepack enable\n.*run: yarn install/,
    'yarn run torture',
    'yarn run torture ',
  ],
])(
  'with %s its package manager is in the hint, the commands and the workflow',
  async (lockfile, add, install, run, inJob) => {
    if (lockfile) write(lockfile, '');
    await init();
    expect(said).toContain(`here: ${add}\n`);
    expect(said).toContain(`Then try: ${run}, and `);
    const workflow = readFileSync(join(folder, '.github/workflows/lock-torture.yml'), 'utf8');
    expect(workflow).toMatch(install);
    expect(workflow).toContain(`run: ${inJob}--runtime netns`);
  },
);

test('the workflow of a package goes where GitHub looks for it, runs in the package, and takes the lockfile of its workspace', async () => {
  mkdirSync(join(folder, '.git'));
  write('pnpm-lock.yaml', '');
  const own = join(folder, 'packages/mine');
  mkdirSync(own, { recursive: true });
  await init({}, own);
  expect(said).toContain(' ../../.github/workflows/lock-torture-packages-mine.yml\n');
  const workflow = readFileSync(join(folder, '.github/workflows/lock-torture-packages-mine.yml'), 'utf8');
  expect(workflow).toContain('working-directory: "packages/mine"\n');
  expect(workflow).toContain('path: "packages/mine/runs/"\n');
  expect(workflow).toContain('run: pnpm install --frozen-lockfile\n');
});

test('a lockfile outside of the repository is none of its own', async () => {
  write('yarn.lock', '');
  const own = join(folder, 'repository');
  mkdirSync(join(own, '.git'), { recursive: true });
  await init({}, own);
  expect(said).toContain('Then try: npm run torture, and ');
});

test('nothing is overwritten: what is there is kept, and said to be', async () => {
  mkdirSync(join(folder, 'lock-torture'));
  write('lock-torture/my-lock.mjs', 'mine');
  await init();
  expect(readFileSync(join(folder, 'lock-torture/my-lock.mjs'), 'utf8')).toBe('mine');
  expect(said).toMatch(/^kept, it is there: lock-torture\/my-lock\.mjs$/m);
  expect(existsSync(join(folder, 'lock-torture.config.mjs'))).toBe(true);
});

test('--dry-run writes nothing; where nobody can be asked nothing is written either, and one line says what to do', async () => {
  await init({ dryRun: true });
  expect(said).toMatch(/^to be written: {5}lock-torture\.config\.mjs$/m);
  vi.spyOn(process, 'stdin', 'get').mockReturnValue({ isTTY: false } as typeof process.stdin);
  await expect(init({ yes: false })).rejects.toThrow(/^no terminal to ask in: pass --yes/);
  expect(there()).toEqual([]);
});

test('a folder that cannot be made, and a package.json that is none, are one line each', async () => {
  write('lock-torture', 'a file');
  await expect(init()).rejects.toThrow(/my-lock\.mjs cannot be written: /);
  write('package.json', '{');
  await expect(init()).rejects.toThrow(/package\.json cannot be read: /);
});

test('the workflow takes the actions that those of this project take', async () => {
  await init();
  const used = (text: string) => text.match(/[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+/g) ?? [];
  const written = used(readFileSync(join(folder, '.github/workflows/lock-torture.yml'), 'utf8'));
  expect(written).toHaveLength(3);
  const ours = used(readFileSync(join(ROOT, '.github/workflows/nightly.yml'), 'utf8'));
  expect(ours).toEqual(expect.arrayContaining(written));
});
