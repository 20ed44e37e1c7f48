/** Which package of a published library a run takes, and the one line where there is none. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveLock } from '../../../../cli/run/lock-source.js';
import { findLibrary } from '../../../../cli/run/published-library.js';
import { PROJECT } from '../../../../harness/machine/project-files.js';
import { libraries } from '../../../../lock-impl/third-party/library.js';

const redlock5 = libraries['redlock-5'];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-library-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function installed(at: string, name: string, version: string): void {
  mkdirSync(join(folder, at, 'node_modules', name), { recursive: true });
  const main = `module.exports = { default: class { constructor() { this.version = ${JSON.stringify(version)}; } } };\n`;
  writeFileSync(join(folder, at, 'node_modules', name, 'index.js'), main);
  writeFileSync(join(folder, at, 'node_modules', name, 'package.json'), JSON.stringify({ name, version }));
}

test("the user's own comes first, from where they stand upward", () => {
  installed('', 'redlock', '5.0.0-beta.1');
  mkdirSync(join(folder, 'packages/mine'), { recursive: true });
  expect(findLibrary(redlock5, join(folder, 'packages/mine'))).toMatchObject({
    version: 'redlock@5.0.0-beta.1',
    folder: join(folder, 'node_modules/redlock'),
  });
});

test('one of another major version is not taken: then a clone has its own', () => {
  installed('', 'redlock', '4.1.0');
  expect(findLibrary(redlock5, folder)).toMatchObject({ version: 'redlock@5.0.0-beta.2', importedAs: 'redlock-5' });
  expect(findLibrary(libraries['redlock-4'], folder)).toMatchObject({ version: 'redlock@4.1.0' });
});

test('where there is none, one line says how to get it', () => {
  const remedy = 'npm install --save-dev redlock@5.0.0-beta.2';
  expect(findLibrary(redlock5, folder, folder)).toBe(`redlock 5 is not installed in ${folder}: ${remedy}`);
  installed('', 'redlock', '4.2.0');
  const there = 'there is redlock@4.2.0';
  expect(findLibrary(redlock5, folder, folder)).toBe(`redlock 5 is not installed in ${folder} (${there}): ${remedy}`);
});

test('a version that is asked for is fetched, whatever the project has, and an unpinned one is said to be', async () => {
  installed('', 'redlock', '5.9.9');
  installed('cache', 'redlock', '5.0.0-beta.1');
  const modulePath = join(PROJECT, 'dist/lock-impl/third-party/redlock-5.js');
  const asked: unknown[] = [];
  const from = join(folder, 'cache');
  const resolved = (version: string) =>
    resolveLock(`third-party/redlock-5@${version}`, {
      cwd: folder,
      outFolder: folder,
      builtin: () => ({ modulePath, topologies: ['single'], library: redlock5 }),
      builtinNames: [],
      external: async () => undefined,
      async fetched(takes) {
        asked.push(takes);
        return {
          version: `redlock@${version}`,
          importedAs: 'redlock',
          from,
          folder: join(from, 'node_modules/redlock'),
        };
      },
      clientMain: join(PROJECT, 'dist/harness/client/main.js'),
      node: 'node',
    });
  const { clientArgv, note } = await resolved('5.0.0-beta.1');
  expect(asked).toEqual([{ library: 'redlock', version: '5.0.0-beta.1' }]);
  expect(note).toBe(`third-party/redlock-5@5.0.0-beta.1 is redlock@5.0.0-beta.1 (${from}/node_modules/redlock)`);
  const { default: lock } = await import(clientArgv.at(-1)!);
  expect(lock.features).toContain('redlock@5.0.0-beta.1');
  expect((await resolved('5.0.0-beta.2')).note).toMatch(/\nnote: redlock 5\.0\.0-beta\.2 is not pinned: /);
});

test('the lock becomes one module with it', async () => {
  installed('', 'redlock', '5.9.9');
  const modulePath = join(PROJECT, 'dist/lock-impl/third-party/redlock-5.js');
  const lock = await resolveLock('third-party/redlock-5', {
    cwd: folder,
    outFolder: folder,
    builtin: () => ({ modulePath, topologies: ['single'], library: redlock5 }),
    builtinNames: [],
    external: async () => undefined,
    fetched: () => Promise.reject(new Error('no version is asked for')),
    clientMain: join(PROJECT, 'dist/harness/client/main.js'),
    node: 'node',
  });
  expect(lock.note).toBe(`third-party/redlock-5 is redlock@5.9.9 (${join(folder, 'node_modules/redlock')})`);
  const { default: definition } = await import(lock.clientArgv.at(-1)!);
  expect(definition.features).toContain('redlock@5.9.9');
});
