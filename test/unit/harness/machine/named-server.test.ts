import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { downloadedNamed, isNamed, serverName } from '../../../../harness/machine/named-server.js';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'named-server-test-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

test.each(['redis@8', 'redis@8.0', 'redis@8.0.2', 'valkey@9', 'etcd@3.5', 'zookeeper@3.8', 'mariadb@11', 'mysql@9.7'])(
  '%s names a server',
  (text) => {
    const [product, version] = text.split('@');
    expect(serverName(text)).toEqual({ product, version });
  },
);

test.each([
  'redis',
  'redis@',
  'redis@8.',
  'redis@8.0.2.1',
  'keydb@6',
  'constructor@1',
  './redis@8',
  'redis@8/x',
  '/usr/bin/redis-server',
  '',
])('"%s" names none', (text) => {
  expect(serverName(text)).toBeUndefined();
});

test('a version stands for all that it is a prefix of, number by number', () => {
  const named = (name: string, upstream: string) => isNamed(serverName(name)!, upstream);
  expect(named('redis@8', '8.0.2')).toBe(true);
  expect(named('redis@8.0', '8.0.2')).toBe(true);
  expect(named('redis@8.0.2', '8.0.2')).toBe(true);
  expect(named('redis@8', '80.1.0')).toBe(false);
  expect(named('redis@8.0.2', '8.0.21')).toBe(false);
});

/** As a download leaves it. */
function downloaded(name: string, loader?: string): void {
  const field = (key: string) =>
    new RegExp(`^${key}="?([^"\n]*)`, 'm').exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const folder = join(cache, name, `${field('ID')}-${field('VERSION_ID')}-${process.arch}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'library-path'), 'root/lib:root/lib/more');
  if (loader !== undefined) writeFileSync(join(folder, 'loader'), loader);
}

test('the newest download of the version is taken, by number', () => {
  for (const name of ['redis-8.0.2', 'redis-8.0.10', 'redis-7.2.1', 'valkey-8.1.1', 'redis']) downloaded(name);
  mkdirSync(join(cache, 'redis-8.1.0')); // a download that failed
  expect(downloadedNamed(serverName('redis@8')!, cache)?.path).toContain('/redis-8.0.10/');
  expect(downloadedNamed(serverName('redis@9')!, cache)).toBeUndefined();
  expect(downloadedNamed(serverName('redis@8')!, join(cache, 'nothing'))).toBeUndefined();
});

test('a server of another suite is run by its own loader, under its own name', () => {
  downloaded('valkey-9.1.2', 'root/lib/ld-linux.so.2');
  const { path, loader, env } = downloadedNamed(serverName('valkey@9')!, cache)!;
  const [program, ...options] = loader!;
  expect(program).toMatch(/^\/.*\/root\/lib\/ld-linux\.so\.2$/);
  expect(options).toEqual([
    '--library-path',
    expect.stringMatching(/\/root\/lib:.*\/root\/lib\/more$/),
    '--argv0',
    'valkey-server',
  ]);
  expect(path).toMatch(/\/root\/usr\/bin\/valkey-server$/);
  expect(env).toEqual({});
});
