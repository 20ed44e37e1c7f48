/** Which program is MongoDB's, which is FerretDB's, and which is neither. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isFerretDb } from '../../../../../harness/topologies/mongodb/program.js';
import { services } from '../../../../../harness/topologies/services.js';

let tools: string;
const path = process.env.PATH;
beforeEach(() => {
  tools = mkdtempSync(join(tmpdir(), 'mongodb-program-test-'));
  process.env.PATH = `${tools}:/usr/bin:/bin`;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(tools, { recursive: true, force: true });
});

function program(name: string, says: string): string {
  const file = join(tools, name);
  writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && echo '${says}'\n`, { mode: 0o755 });
  return file;
}
const { find, findHere } = services.mongodb;
const here = (explicit?: string) => findHere({ explicit, cacheFolder: join(tools, 'cache') });

const MONGOD = 'db version v7.0.14\nBuild Info: {';
const FERRETDB = 'version: v1.24.2\ncommit: unknown';

test('mongod is taken from PATH', async () => {
  program('mongod', MONGOD);
  const found = await here();
  expect(found).toMatchObject({ version: '7.0.14', origin: 'PATH' });
  expect(isFerretDb(found!)).toBe(false);
});

test('what a program that is named is, it says itself, whatever it is called', async () => {
  expect(await here(program('a', MONGOD))).toMatchObject({ version: '7.0.14', origin: '--server' });
  const ferret = await here(program('mongod', FERRETDB));
  expect(ferret).toMatchObject({ version: '1.24.2', origin: '--server' });
  expect(isFerretDb(ferret!)).toBe(true);
});

test.each([
  ['db version v4.4.29', 'is version 4.4.29, which is too old'],
  ['version: v2.5.0', 'is no MongoDB that runs here'],
  ['version: v1.20.1', 'is no MongoDB that runs here'],
  ['etcd Version: 3.5.16', 'is no MongoDB that runs here'],
])('one that says %j is refused', async (says, why) => {
  await expect(here(program('a', says))).rejects.toThrow(why);
});

test('where there is none, it is said what to do', async () => {
  const finding = find({ cacheFolder: join(tools, 'cache'), say: () => {} });
  const said = 'mongod is not on PATH, and no distribution has it: install MongoDB 5.0 or newer';
  await expect(finding).rejects.toThrow(said);
  // There is nothing that could be fetched, so that is no other answer.
  await expect(here()).rejects.toThrow(said);
  await expect(here('etcd@3.5')).rejects.toThrow('--server etcd@3.5 is no MongoDB');
  await expect(here(join(tools, 'nowhere'))).rejects.toThrow('is not there');
});
