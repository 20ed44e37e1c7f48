/** Programs of services: those that a user names, by a path or by product and version. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const says = (name: string, version: string) =>
  writeFileSync(join(tools, name), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });

test("a MySQL is not taken for one where MariaDB's server is called so", async () => {
  const mysql = (explicit?: string) => services.mysql.findHere({ explicit, cacheFolder: join(tools, 'cache') });
  says('mysqld', 'mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))');
  expect(await mysql()).toMatchObject({ version: '9.7.4', origin: 'PATH' });
  says('mysqld', 'mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)');
  expect(await mysql()).toBeUndefined();
  expect(await mysql('mysql@10.11')).toBeUndefined();
  await expect(mysql(join(tools, 'mysqld'))).rejects.toThrow(/^--server \S+mysqld is no MySQL that runs here/);
  says('mysqld', 'mysqld  Ver 8.0.42 for Linux on x86_64');
  await expect(mysql()).rejects.toThrow(/is version 8\.0\.42, which is too old/);
});

test('of what was downloaded from a newer suite the version that the service names is taken', async () => {
  const cacheFolder = join(tools, 'cache');
  const os = readFileSync('/etc/os-release', 'utf8');
  const field = (key: string) => new RegExp(`^${key}="?([^"\n]*)`, 'm').exec(os)?.[1] ?? 'unknown';
  const folder = join(cacheFolder, 'mysql-9.7.4', `${field('ID')}-${field('VERSION_ID')}-${process.arch}`);
  mkdirSync(join(folder, 'root/usr/sbin'), { recursive: true });
  writeFileSync(join(folder, 'library-path'), '');
  writeFileSync(join(folder, 'root/usr/sbin/mysqld'), "#!/bin/sh\necho 'mysqld  Ver 9.7.4-2 for Linux'\n", {
    mode: 0o755,
  });
  says('mysqld', 'mysqld  Ver 10.11.19-MariaDB');
  expect(await services.mysql.findHere({ cacheFolder })).toMatchObject({ version: '9.7.4', origin: 'downloaded' });
});
