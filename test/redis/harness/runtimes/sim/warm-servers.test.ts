/** Servers that are started once for many schedules, with the real redis-server. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { privateFolder } from '../../../../../harness/machine/private-folder.js';
import { cacheFolder, findRedis } from '../../../../../harness/machine/redis-binary.js';
import { buildSimShim } from '../../../../../harness/machine/sim-shim.js';
import {
  frameOf,
  type Heard,
  PipePool,
  type Said,
  ShimChannel,
} from '../../../../../harness/runtimes/sim/shim-channel.js';
import { type ServerChannel, WarmServers } from '../../../../../harness/runtimes/sim/warm-servers.js';
import type { RedisBinary } from '../../../../../harness/vocabulary/topology.js';
import { namedServerHere } from '../../../../support/named-server.js';

const BEGIN_NS = 1e12;
const CLIENT = 2 ** 31;

const asks = (command: string): Heard[] => [{ kind: 'data', id: CLIENT, bytes: Buffer.from(`${command}\r\n`) }];
const answer = (said: Said[] | undefined) =>
  (said ?? []).map((one) => (one.kind === 'send' ? one.bytes.toString().trim() : one.kind)).join();

test('a copy goes on where its original was ready, and who heard else is alone', { tags: ['native'] }, async () => {
  using cache = privateFolder(tmpdir());
  const shim = await buildSimShim({ cacheFolder: cache.path, say: () => {} });
  if (!('path' in shim)) throw new Error(shim.unavailable);
  const redis = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
  const servers = new WarmServers(new PipePool(cache.path));
  let made = 0;
  const started = (): ServerChannel => {
    const cwd = join(cache.path, `host-${made++}`);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'redis.conf'), 'port 6379\nbind 10.77.0.2\nprotected-mode no\nsave ""\n');
    const env = { ...redis.env, LD_PRELOAD: shim.path, SIM_SEED: '1', SIM_ADDRESS: '10.77.0.2', SIM_HOST: 'r1' };
    return servers.start({
      argv: [...(redis.loader ?? []), redis.path, 'redis.conf'],
      env,
      cwd,
      log: `${cwd}.log`,
      nowNs: BEGIN_NS,
    });
  };
  const listening = (channel: ServerChannel): ServerChannel => {
    const listens = channel.first()!.find((one) => one.kind === 'listen')!;
    const accepted = { kind: 'accepted', id: listens.id, connection: CLIENT, address: '10.77.0.3', port: 1 } as const;
    expect(answer(channel.step(BEGIN_NS, [accepted]))).toBe('');
    return channel;
  };
  const at = (ms: number) => BEGIN_NS + ms * 1e6;

  const first = listening(started());
  expect(answer(first.step(at(1), asks('SET k first')))).toBe('+OK');
  first.ready();
  expect(answer(first.step(at(2), asks('INCR n')))).toBe(':1');

  // It did what the first did; from then on each has what is its own.
  const second = listening(started());
  expect(answer(second.step(at(1), asks('SET k first')))).toBe('+OK');
  second.ready();
  expect(answer(second.step(at(2), asks('INCR n')))).toBe(':1');
  expect(answer(second.step(at(3), asks('INCR n')))).toBe(':2');
  expect(answer(second.step(at(4), asks('GET k')))).toBe('$5\r\nfirst');
  expect(answer(first.step(at(3), asks('GET n')))).toBe('$1\r\n1');

  const other = listening(started());
  expect(answer(other.step(at(1), asks('SET k other')))).toBe('+OK');
  other.ready();
  expect(answer(other.step(at(2), asks('GET k')))).toBe('$5\r\nother');
  expect(answer(other.step(at(2), asks('GET n')))).toBe('$-1');

  // Where a thread does it (Redis 8), it tells its own program, and none of the others.
  expect(answer(first.step(at(5), asks('FLUSHALL')))).toBe('+OK');
  expect(answer(second.step(at(5), asks('FLUSHALL')))).toBe('+OK');
  expect(answer(second.step(at(6), asks('GET k')))).toBe('$-1');
  expect(answer(other.step(at(5), asks('GET k')))).toBe('$5\r\nother');

  for (const channel of [first, second, other]) channel.kill();
});

/** A server under the shim that listens, with a log beside its folder. */
async function alone(folder: string, redis: RedisBinary, conf: string): Promise<ShimChannel> {
  const shim = await buildSimShim({ cacheFolder: folder, say: () => {} });
  if (!('path' in shim)) throw new Error(shim.unavailable);
  const cwd = join(folder, 'r1');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'redis.conf'), `port 6379\nbind 10.77.0.2\nsave ""\n${conf}`);
  const env = { ...redis.env, LD_PRELOAD: shim.path, SIM_SEED: '1', SIM_ADDRESS: '10.77.0.2', SIM_HOST: 'r1' };
  const argv = [...(redis.loader ?? []), redis.path, 'redis.conf'];
  const started = { argv, env, cwd, log: join(folder, 'r1.log'), nowNs: BEGIN_NS };
  const server = ShimChannel.start(new PipePool(folder), started);
  let said = server.first();
  for (let ms = 1; ms < 1000 && !said?.some(({ kind }) => kind === 'listen'); ms++)
    said = server.exchange(frameOf(BEGIN_NS + ms * 1e6, []));
  expect(said).toContainEqual(expect.objectContaining({ kind: 'listen' }));
  return server;
}

const goesOn = (server: ShimChannel) => expect(server.exchange(frameOf(BEGIN_NS + 1e9, []))).toBeDefined();

test('a copy that cannot be made says why in the log, and nobody waits for it', { tags: ['native'] }, async () => {
  using cache = privateFolder(tmpdir());
  const original = await alone(cache.path, await findRedis({ cacheFolder: cacheFolder(), say: () => {} }), '');
  expect(original.copy(join(cache.path, 'nowhere'), join(cache.path, 'copy.log'))).toBeUndefined();
  expect(readFileSync(join(cache.path, 'r1.log'), 'utf8')).toContain('sim shim: a copy has no folder');
  goesOn(original);
  original.kill();
});

test('a copy has its own of a file that another has taken the name of', { tags: ['native'] }, async ({ skip }) => {
  const valkey = await namedServerHere('valkey@9');
  if (!valkey) return skip('Valkey 9 cannot be had here');
  using cache = privateFolder(tmpdir());
  // It keeps the first nodes.conf open, for its lock, and writes each later one beside it.
  const original = await alone(cache.path, valkey, 'cluster-enabled yes\n');
  const copies = ['r2', 'r3'].map((name) => {
    const cwd = join(cache.path, name);
    cpSync(join(cache.path, 'r1'), cwd, { recursive: true });
    return original.copy(cwd, join(cache.path, `${name}.log`))!;
  });
  for (const server of [original, ...copies]) goesOn(server);
  for (const server of [...copies, original]) server.kill();
});

test('what it tells of itself is the same wherever the program lies', { tags: ['native'] }, async () => {
  using cache = privateFolder(tmpdir());
  const redis = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
  const told = async (folder: string, path: string) => {
    mkdirSync(folder);
    const server = await alone(folder, { ...redis, path }, 'protected-mode no\n');
    const at = (ms: number, heard: Heard[]) => server.exchange(frameOf(BEGIN_NS + ms * 1e6, heard));
    // What it listens at has a number, from 1 on.
    at(1001, [{ kind: 'accepted', id: 1, connection: CLIENT, address: '10.77.0.3', port: 1 }]);
    const said = answer(at(1002, asks('INFO server')));
    server.kill();
    return said;
  };
  const elsewhere = join(cache.path, basename(redis.path));
  symlinkSync(redis.path, elsewhere);
  const here = await told(join(cache.path, 'one'), redis.path);
  expect(here).toContain('executable:');
  expect(await told(join(cache.path, 'other'), elsewhere)).toBe(here);
});
