import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cacheFolder, findRedis, RedisNotFoundError } from '../../../../harness/machine/redis-binary.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'redis-binary-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, body: string, mode = 0o755): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode });
  return path;
}

const find = (explicit: string) => findRedis({ explicit, cacheFolder: folder, say: () => {} });

describe('--server PATH', () => {
  it.each(['6.2.0', '7.0.15', '10.1.2'])('takes version %s', async (version) => {
    const path = script('redis-server', `echo "Redis server v=${version} sha=00000000:0 malloc=libc bits=64 build=1"`);
    expect(await find(path)).toEqual({ path, env: {}, version, origin: '--server' });
  });

  it.each([
    ['a missing file', () => join(folder, 'nothing'), /nothing does not exist/],
    ['a folder', () => folder, /is not an executable file/],
    ['a file that is not executable', () => script('redis-server', '', 0o644), /is not an executable file/],
    [
      'an old version',
      () => script('redis-server', 'echo "Redis server v=6.0.16 sha=0"'),
      /is version 6\.0\.16, which is too old/,
    ],
    [
      'an older version',
      () => script('redis-server', 'echo "Redis server v=5.9.16 sha=0"'),
      /is version 5\.9\.16, which is too old/,
    ],
    [
      'another program',
      () => script('redis-server', 'echo "hello, v1"'),
      /is not a redis-server; to --version it says "hello, v1"/,
    ],
    [
      'one that fails',
      () => script('redis-server', 'echo no libraries >&2; exit 4'),
      /does not run \(exit status 4: no libraries\)/,
    ],
  ])('refuses %s in one line that ends with what to do', async (_, make, problem) => {
    const error = await find(make()).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RedisNotFoundError);
    const { message } = error as Error;
    expect(message).toMatch(problem);
    expect(message).toMatch(/: install Redis 6\.2 or newer so that redis-server is on PATH, or give --server PATH$/);
    expect(message).not.toContain('\n');
  });
});

describe('the cache folder', () => {
  const home = knownHome();
  it.each([
    [{ LOCK_TORTURE_CACHE: '/own', XDG_CACHE_HOME: '/xdg' }, '/own'],
    [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/lock-torture'],
    [{ XDG_CACHE_HOME: 'relative' }, home && join(home, '.cache', 'lock-torture')],
    [{ HOME: '/home/me' }, '/home/me/.cache/lock-torture'],
    [{ HOME: '' }, home && join(home, '.cache', 'lock-torture')],
    [{ HOME: 'relative' }, home && join(home, '.cache', 'lock-torture')],
    [{}, home && join(home, '.cache', 'lock-torture')],
  ])('with %j is %s', (env, expected) => {
    if (expected !== undefined) expect(cacheFolder(env)).toBe(expected);
    else expect(() => cacheFolder(env)).toThrow('set LOCK_TORTURE_CACHE to a folder of yours');
  });

  it('is refused where everybody may write: what lies in it is run', () => {
    const cache = join(folder, 'cache');
    expect(cacheFolder({ LOCK_TORTURE_CACHE: cache })).toBe(cache);
    mkdirSync(cache);
    expect(cacheFolder({ LOCK_TORTURE_CACHE: cache })).toBe(cache);
    chmodSync(cache, 0o1777);
    expect(() => cacheFolder({ LOCK_TORTURE_CACHE: cache })).toThrow(
      /^programs are run from the cache folder \S+, and it may be written by everybody \(chmod o-w\): set LOCK_TORTURE_CACHE to a folder of yours$/,
    );
  });

  it('is refused where it is the home of the user who became root', { tags: ['root'] }, () => {
    const cache = join(folder, '.cache', 'lock-torture');
    mkdirSync(cache, { recursive: true });
    chownSync(cache, 12_345, 12_345);
    expect(() => cacheFolder({ HOME: folder })).toThrow(
      /lock-torture, and it belongs to another user: set LOCK_TORTURE_CACHE to a folder of yours$/,
    );
  });
  /** Undefined for a user of whom the machine knows no name. */
  function knownHome(): string | undefined {
    try {
      return userInfo().homedir;
    } catch {
      return undefined;
    }
  }
});
