/** The durable shim in a real redis-server, alone and together with the clock shim in either order: what a power cut leaves. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildClockShim, encodeSkew } from '../../../../harness/machine/clock-shim.js';
import { buildDurableShim, preloadTrouble, tryDurableShim } from '../../../../harness/machine/durable-shim.js';
import type { BuiltPart } from '../../../../harness/machine/native-part.js';
import { cacheFolder, findRedis } from '../../../../harness/machine/redis-binary.js';
import { diskRecordEnv, diskRecordTrouble, losePower } from '../../../../harness/runtimes/power-cut.js';
import { mendLog } from '../../../../harness/topologies/mend-log.js';
import type { Host, PowerCut } from '../../../../harness/vocabulary/host.js';
import type { RedisBinary } from '../../../../harness/vocabulary/topology.js';
import { namedServerHere } from '../../../support/named-server.js';

const HOUR_MS = 3_600_000;
const say = () => {};

let scratch: string;
let clockShim: string;
let durableShim: string;
let server: RedisBinary;
let folder: string;
let closers: (() => void)[];

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'durable-shim-test-'));
  const options = { cacheFolder: join(scratch, 'cache'), say };
  const path = (built: BuiltPart) => {
    if ('unavailable' in built) throw new Error(built.unavailable);
    return built.path;
  };
  clockShim = path(await buildClockShim(options));
  durableShim = path(await buildDurableShim(options));
  server = await findRedis({ cacheFolder: cacheFolder(), say });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'host-'));
  writeFileSync(join(folder, 'clock'), encodeSkew({ offsetMs: HOUR_MS, ratePpm: 0 }, 0));
  closers = [];
});
afterEach(() => {
  for (const close of closers) close();
});

interface Running {
  redis: Redis;
  child: ChildProcess;
  /** SIGKILL, and whatever the power cut leaves. */
  losePower(mode?: PowerCut['mode']): ReturnType<typeof losePower>;
}

async function start(settings: readonly string[], shims: readonly string[] = [durableShim]): Promise<Running> {
  const argv = [...(server.loader ?? []), server.path];
  const common = ['--port', '0', '--unixsocket', 'redis.sock', '--dir', '.', '--save', ''];
  const child = spawn(argv[0]!, [...argv.slice(1), ...common, ...settings], {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      ...server.env,
      LD_PRELOAD: shims.join(':'),
      LOCK_TORTURE_CLOCK: join(folder, 'clock'),
      ...diskRecordEnv(folder),
    },
  });
  const redis = new Redis({ path: join(folder, 'redis.sock'), retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {}); // until it listens; a server that never does shows as a test that times out
  closers.push(
    () => redis.disconnect(),
    () => child.kill('SIGKILL'),
  );
  await redis.ping();
  return {
    redis,
    child,
    losePower(mode = 'exact') {
      redis.disconnect();
      child.kill('SIGKILL');
      return losePower(folder, { mode, seed: 1 });
    },
  };
}

const AOF = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** Writes one key that is synced and one that is not. */
async function writeBoth({ redis }: Running): Promise<void> {
  await redis.set('synced', 1);
  await redis.config('SET', 'appendfsync', 'no');
  await redis.set('written', 1);
}

async function keysAfterRestart(settings: readonly string[]): Promise<string[]> {
  const { redis, child } = await start(settings);
  const keys = await redis.keys('*');
  redis.disconnect();
  child.kill('SIGKILL');
  return keys.sort();
}

describe('the durable shim', { tags: ['native'] }, () => {
  it.each([
    ['alone', () => [durableShim], false],
    ['after the clock shim', () => [clockShim, durableShim], true],
    ['before the clock shim', () => [durableShim, clockShim], true],
  ] as const)('%s tells what of the log was synced before the answer', async (_, shims, isSkewed) => {
    const running = await start(AOF, shims());
    expect(diskRecordTrouble(folder, running.child.pid!)).toBeUndefined();
    const [seconds] = await running.redis.time();
    expect(Number(seconds) * 1_000 - Date.now() > HOUR_MS / 2).toBe(isSkewed);
    await writeBoth(running);
    const files = await running.losePower();
    const log = files.find(({ name }) => name.endsWith('.incr.aof') || name === 'appendonly.aof');
    expect(log!.writtenBytes).toBeGreaterThan(log!.durableBytes);
    expect(log!.leftBytes).toBe(log!.durableBytes);
    expect(await keysAfterRestart(AOF)).toEqual(['synced']);
  });

  it('keeps everything that was answered where every write is synced, and across restarts', async () => {
    for (const key of ['a', 'b', 'c']) {
      const running = await start(AOF);
      await running.redis.set(key, 1);
      // An ordinary kill leaves what was synced before to the next power cut.
      if (key === 'a') {
        running.redis.disconnect();
        running.child.kill('SIGKILL');
        await new Promise((resolve) => running.child.once('exit', resolve));
      } else await running.losePower();
    }
    expect(await keysAfterRestart(AOF)).toEqual(['a', 'b', 'c']);
  });

  it('keeps what an ordinary kill left to the kernel out of reach of the power cut that follows', async () => {
    const first = await start(AOF);
    await writeBoth(first);
    first.redis.disconnect();
    first.child.kill('SIGKILL');
    await new Promise((resolve) => first.child.once('exit', resolve));
    const second = await start(['--appendonly', 'yes', '--appendfsync', 'no']);
    expect((await second.redis.keys('*')).sort()).toEqual(['synced', 'written']);
    await second.losePower();
    expect(await keysAfterRestart(AOF)).toEqual(['synced']);
  });

  it('follows a rewritten log: its new parts, their names and the manifest', async () => {
    const running = await start(AOF);
    await running.redis.set('before', 1);
    await running.redis.bgrewriteaof();
    await expect
      .poll(() => running.redis.info('persistence'), { timeout: 20_000 })
      .toMatch(/aof_rewrite_in_progress:0[\s\S]*aof_last_bgrewrite_status:ok/);
    await running.redis.set('after', 1);
    await running.losePower();
    expect(await keysAfterRestart(AOF)).toEqual(['after', 'before']);
  });

  it('has the snapshot that was saved last, and nothing since', async () => {
    const running = await start([]);
    await running.redis.set('saved', 1);
    await running.redis.save();
    await running.redis.set('since', 1);
    const [file] = await running.losePower();
    expect(file).toMatchObject({ name: 'dump.rdb', writtenBytes: file!.durableBytes, leftBytes: file!.durableBytes });
    expect(await keysAfterRestart([])).toEqual(['saved']);
  });

  it('has the old snapshot where a new one was being saved, and waits for its child', async () => {
    const running = await start(['--rdb-key-save-delay', '10000000']);
    await running.redis.set('saved', 1);
    await running.redis.config('SET', 'rdb-key-save-delay', '0');
    await running.redis.save();
    await running.redis.config('SET', 'rdb-key-save-delay', '10000000');
    await running.redis.set('since', 1);
    await running.redis.bgsave();
    const children = () => readFileSync(`/proc/${running.child.pid}/task/${running.child.pid}/children`, 'utf8').trim();
    await expect.poll(children).not.toBe('');
    const child = children();
    await running.losePower();
    expect(existsSync(`/proc/${child}/exe`) && readFileSync(`/proc/${child}/stat`, 'utf8')).toBe(false);
    expect(await keysAfterRestart([])).toEqual(['saved']);
  });

  // Valkey 9's snapshots begin otherwise, and its own program takes them for damaged.
  it.for(['', 'valkey@9'])(
    'leaves zeros that a server refuses, until its log is mended %s',
    async (named, { skip }) => {
      const here = server;
      closers.push(() => {
        server = here;
      });
      if (named !== '') server = (await namedServerHere(named)) ?? skip(`${named} cannot be had here`);
      const running = await start(AOF);
      await writeBoth(running);
      await running.losePower('zeros');
      const env = { ...process.env, ...server.env };
      const argv = [
        ...(server.loader ?? []),
        server.path,
        '--port',
        '0',
        '--unixsocket',
        'redis.sock',
        '--dir',
        '.',
        ...AOF,
      ];
      const refused = spawnSync(argv[0]!, argv.slice(1), { cwd: folder, env, encoding: 'utf8' });
      expect(refused).toMatchObject({ status: 1, stdout: expect.stringContaining('Bad file format') });
      const exec = async ([command, ...args]: readonly string[]) => {
        const { status, stdout, stderr } = spawnSync(command!, args, { cwd: folder, encoding: 'utf8' });
        return { exitCode: status!, stdout, stderr };
      };
      expect(await mendLog({ name: 'r1', exec } as Host, server)).toContain('Successfully truncated AOF');
      expect(await keysAfterRestart(AOF)).toEqual(['synced']);
    },
  );

  it('is not loaded by a program that is statically linked', { tags: ['compiler'] }, async () => {
    const path = join(folder, 'static');
    writeFileSync(`${path}.c`, '#include <stdio.h>\nint main(void) { puts("v=7.0.0"); return 0; }\n');
    execFileSync('cc', ['-static', '-o', path, `${path}.c`]);
    const trouble = await preloadTrouble({ ...server, loader: undefined, path }, durableShim, folder);
    expect(trouble).toMatch(/statically linked, or setuid.*give another server with --server$/);
    expect(await preloadTrouble(server, durableShim, folder)).toBeUndefined();
  });

  it('is compiled once, and found to work or not', { tags: ['compiler'] }, async () => {
    const lines: string[] = [];
    const cache = join(folder, 'cache');
    mkdirSync(cache);
    const build = () =>
      buildDurableShim({ cacheFolder: cache, prebuiltFolder: folder, say: (line) => lines.push(line) });
    expect(await build()).toEqual(await build());
    expect(lines).toEqual(['compiling the durable shim (first run)…']);
    expect(readdirSync(join(cache, 'durable-shim'))).toHaveLength(1);
    expect(await tryDurableShim(durableShim, folder)).toBeUndefined();
    expect(await tryDurableShim(clockShim, folder)).toMatch(/has no effect/);
  });
});
