/** Which client of Redis' own package a lock's file brings along: that of its project, and none where it asks for none. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundleWithNodeRedis } from '../../../../cli/run/node-redis.js';
import { takeLoader } from '../../../../harness/client/node-redis/package.js';
import { PROJECT } from '../../../../harness/machine/project-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'node-redis-'));
  mkdirSync(join(folder, 'out'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const install = (version: string) => {
  write('node_modules/redis/package.json', JSON.stringify({ name: 'redis', version, main: 'index.js' }));
  write('node_modules/redis/index.js', `exports.createClient = () => ${JSON.stringify(version)};`);
};
const bundled = (withPackages = false) =>
  bundleWithNodeRedis(
    './lock.js',
    join(folder, 'lock.js'),
    {
      cwd: folder,
      outFolder: join(folder, 'out'),
      clientMain: join(PROJECT, 'dist/harness/client/main.js'),
      withPackages,
    },
    // A clone has one for its own tests.
    folder,
  );
const ASKS = 'export default { name: "l", connect: async (topology) => void (await topology.nodeRedis()) };';

async function loaded(path: string): Promise<unknown> {
  await import(`${pathToFileURL(path).href}?${Math.random()}`);
  return (await takeLoader()?.())?.createClient({});
}

it.each([
  ['5.12.1', false],
  ['6.3.1', false],
  ['6.3.1', true],
] as const)('version %s of its project (packages in the file: %s)', async (version, withPackages) => {
  write('lock.js', ASKS);
  install(version);
  const path = await bundled(withPackages);
  expect(readFileSync(path, 'utf8').includes('exports.createClient')).toBe(withPackages);
  expect(await loaded(path)).toBe(version);
  // One lock's is not another's.
  expect(takeLoader()).toBeUndefined();
});

it('is not brought into a lock that does not ask for it', async () => {
  write('lock.js', ASKS.replace('nodeRedis', 'redis'));
  install('6.3.1');
  const path = await bundled(true);
  expect(readFileSync(path, 'utf8')).not.toContain('createClient');
  expect(await loaded(path)).toBeUndefined();
});

it.each([
  ['none', undefined, ''],
  ['an older one', '4.7.1', ' (there is redis@4.7.1)'],
])('%s is refused in one line, with the command that installs it', async (_, version, instead) => {
  write('lock.js', ASKS);
  if (version !== undefined) install(version);
  await expect(bundled()).rejects.toThrow(
    `--lock ./lock.js: topology.nodeRedis() needs the package redis: redis 5 or 6 is not installed in ${folder}${instead}: npm install --save-dev redis@6.3.1`,
  );
});
