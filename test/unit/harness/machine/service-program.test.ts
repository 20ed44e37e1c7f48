/** Programs of services: those that a user names, by a path or by product and version. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRedisHere } from '../../../../harness/machine/redis-binary.js';
import { services } from '../../../../harness/topologies/services.js';

let tools: string;
const path = process.env.PATH;
beforeEach(() => {
  tools = mkdtempSync(join(tmpdir(), 'service-program-test-'));
  process.env.PATH = `${tools}:${path}`;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(tools, { recursive: true, force: true });
});

const has = (version: string) =>
  writeFileSync(join(tools, 'etcd'), `#!/bin/sh\necho 'etcd Version: ${version}'\n`, { mode: 0o755 });
const here = (explicit: string) => services.etcd.findHere({ explicit, cacheFolder: join(tools, 'cache') });

test('one on PATH is taken where it is the version that was asked for, and no other', async () => {
  has('3.5.16');
  expect(await here('etcd@3.5')).toMatchObject({ version: '3.5.16', origin: 'PATH', asked: 'etcd@3.5' });
  expect(await here('etcd@3.4')).toBeUndefined();
  expect(await here('etcd@3.51')).toBeUndefined();
});

test('one that is too old is not taken, though it was asked for', async () => {
  has('3.3.0');
  expect(await here('etcd@3.3')).toBeUndefined();
});

test('a server of another service is refused', async () => {
  await expect(here('redis@8.0')).rejects.toThrow('--server redis@8.0 is no etcd');
  await expect(findRedisHere({ explicit: 'etcd@3.5', cacheFolder: tools })).rejects.toThrow(
    '--server etcd@3.5 is no Redis or Valkey: name one, or in a run give --service etcd with it',
  );
});
