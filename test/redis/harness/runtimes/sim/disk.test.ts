/** What is left of a simulated server's data when it is killed and when its host loses power, with the real redis-server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { privateFolder } from '../../../../../harness/machine/private-folder.js';
import { cacheFolder, findRedis } from '../../../../../harness/machine/redis-binary.js';
import { buildSimShim } from '../../../../../harness/machine/sim-shim.js';
import { SimDisk } from '../../../../../harness/runtimes/sim/disk.js';
import type { DiskNews } from '../../../../../harness/runtimes/sim/disk-news.js';
import { type Heard, PipePool, type Said } from '../../../../../harness/runtimes/sim/shim-channel.js';
import { type ServerChannel, WarmServers } from '../../../../../harness/runtimes/sim/warm-servers.js';
import type { RedisBinary } from '../../../../../harness/vocabulary/topology.js';

const BEGIN_NS = 1e12;
const CLIENT = 2 ** 31;
const ALWAYS = ['appendonly yes', 'appendfsync always'];
const EVERYSEC = ['appendonly yes', 'appendfsync everysec'];

const cache = privateFolder(tmpdir());
let shim: string;
let redis: RedisBinary;
let servers: WarmServers;
let pipes: PipePool;

beforeAll(async () => {
  const built = await buildSimShim({ cacheFolder: cache.path, say: () => {} });
  if (!('path' in built)) throw new Error(built.unavailable);
  shim = built.path;
  redis = await findRedis({ cacheFolder: cacheFolder(), say: () => {} });
  pipes = new PipePool(cache.path);
  servers = new WarmServers(pipes);
});
afterAll(() => cache[Symbol.dispose]());

/** A host with a server that starts anew as often as one likes; every command comes a millisecond after the one before. */
class TestHost {
  readonly folder: string;
  readonly disk: SimDisk;
  /** All that the server said of its files. */
  readonly news: DiskNews[] = [];
  private channel: ServerChannel | undefined;
  private hear: (news: DiskNews) => void = () => {};
  private nowNs = BEGIN_NS;

  constructor(
    name: string,
    private readonly config: readonly string[],
  ) {
    this.folder = join(cache.path, name);
    mkdirSync(this.folder);
    this.disk = new SimDisk(this.folder);
    const lines = ['port 6379', 'bind 10.77.0.2', 'protected-mode no', 'save ""', 'dir .', ...this.config];
    writeFileSync(join(this.folder, 'redis.conf'), `${lines.join('\n')}\n`);
  }

  start(how: 'start' | 'startAlone' = 'startAlone'): this {
    const env = { ...redis.env, LD_PRELOAD: shim, SIM_SEED: '1', SIM_ADDRESS: '10.77.0.2', SIM_HOST: 'r1' };
    const argv = [...(redis.loader ?? []), redis.path, 'redis.conf'];
    const { folder: cwd, nowNs } = this;
    this.hear = this.disk.begin();
    this.channel = servers[how]({ argv, env, cwd, log: `${cwd}.log`, nowNs });
    const listens = this.took(this.channel.first()).find((one) => one.kind === 'listen')!;
    this.step([{ kind: 'accepted', id: listens.id, connection: CLIENT, address: '10.77.0.3', port: 1 }]);
    return this;
  }

  ask(command: string): string {
    return this.step([{ kind: 'data', id: CLIENT, bytes: Buffer.from(`${command}\r\n`) }]);
  }

  /** Lets so much time pass. */
  sleep(ms: number): void {
    for (const endNs = this.nowNs + ms * 1e6; this.nowNs < endNs; ) this.step([]);
  }

  ready(): void {
    this.channel!.ready();
  }

  kill(): this {
    this.channel!.kill();
    return this;
  }

  losesPower(mode: 'exact' | 'torn' | 'zeros' = 'exact'): ReturnType<SimDisk['losePower']> {
    this.kill();
    return this.disk.losePower({ mode, seed: 1 });
  }

  private step(heard: readonly Heard[]): string {
    this.nowNs += 1e6;
    const said = this.took(this.channel!.step(this.nowNs, heard));
    return said.map((one) => (one.kind === 'send' ? one.bytes.toString().trim() : '')).join('');
  }

  private took(said: Said[] | undefined): Said[] {
    if (!said) throw new Error(`the server has ended: ${readFileSync(`${this.folder}.log`, 'utf8')}`);
    for (const one of said) {
      if (one.kind === 'listen' || one.kind === 'connect' || one.kind === 'send' || one.kind === 'close') continue;
      this.hear(one);
      this.news.push(one);
    }
    return said;
  }
}

const LOG = 'appendonlydir/appendonly.aof.1.incr.aof';

describe('a simulated server', { tags: ['native'] }, () => {
  test('that is killed comes back with its log, synced or not; without one with nothing', () => {
    for (const [name, config, left] of [
      ['killed-always', ALWAYS, '$1\r\n1'],
      ['killed-everysec', EVERYSEC, '$1\r\n1'],
      ['killed-none', [], '$-1'],
    ] as const) {
      const host = new TestHost(name, config).start();
      expect(host.ask('SET k 1')).toBe('+OK');
      expect(host.kill().start().ask('GET k')).toBe(left);
      host.kill();
    }
  });

  test('that is killed comes back with a configuration that it wrote anew, as a Sentinel has it do at a failover', () => {
    const host = new TestHost('configured-anew', ALWAYS).start();
    expect(host.ask('SET k 1')).toBe('+OK');
    expect(host.ask('CONFIG REWRITE')).toBe('+OK');
    expect(host.kill().start().ask('GET k')).toBe('$1\r\n1');
    host.kill();
  });

  test('that syncs every second loses in a power cut what it wrote since, and one that always does nothing', () => {
    const everysec = new TestHost('power-everysec', EVERYSEC).start();
    everysec.sleep(2_100);
    // It has not synced for a second, and so does at once.
    everysec.ask('SET synced 1');
    everysec.ask('SET lost 1');
    const [log, ...others] = everysec.losesPower().filter(({ name }) => name === LOG);
    expect(others).toEqual([]);
    expect(log!.durableBytes).toBeGreaterThan(0);
    expect(log!.writtenBytes).toBeGreaterThan(log!.durableBytes);
    expect(log!.leftBytes).toBe(log!.durableBytes);
    everysec.start();
    expect([everysec.ask('GET synced'), everysec.ask('GET lost')]).toEqual(['$1\r\n1', '$-1']);
    everysec.kill();

    const always = new TestHost('power-always', ALWAYS).start();
    always.ask('SET k 1');
    for (const { writtenBytes, leftBytes, became } of always.losesPower())
      expect([leftBytes, became]).toEqual([writtenBytes, undefined]);
    expect(always.start().ask('GET k')).toBe('$1\r\n1');
    always.kill();
  });

  test('that was killed before has not synced by that what it wrote', () => {
    const host = new TestHost('killed-then-power', EVERYSEC).start();
    host.sleep(2_100);
    host.ask('SET other 1');
    host.ask('SET k 1');
    host.kill();
    // It has its log open again, and nothing of it is any safer for that.
    host.start();
    expect(host.ask('GET k')).toBe('$1\r\n1');
    const log = host.losesPower().find(({ name }) => name === LOG)!;
    expect(log.leftBytes).toBeLessThan(log.writtenBytes);
    expect(host.start().ask('GET k')).toBe('$-1');
    host.kill();
  });

  test('loses part of it where its log is torn, and starts all the same', () => {
    const host = new TestHost('torn', EVERYSEC).start();
    host.sleep(2_100);
    for (let n = 0; n < 50; n++) host.ask(`SET k${n} 1`);
    const log = host.losesPower('torn').find(({ name }) => name === LOG)!;
    expect(log.leftBytes).toBeGreaterThan(log.durableBytes);
    expect(log.leftBytes).toBeLessThan(log.writtenBytes);
    const size = Number(host.start().ask('DBSIZE').slice(1));
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThan(50);
    host.kill();
  });

  test('has a log of its full size where that is zeroed, with zeros where nothing was synced', () => {
    const host = new TestHost('zeroed', EVERYSEC).start();
    host.sleep(2_100);
    for (let n = 0; n < 50; n++) host.ask(`SET k${n} 1`);
    const log = host.losesPower('zeros').find(({ name }) => name === LOG)!;
    expect(log.leftBytes).toBe(log.writtenBytes);
    expect(log.zeroedBytes).toBe(log.writtenBytes - log.durableBytes);
    const bytes = readFileSync(join(host.folder, LOG));
    expect(bytes.subarray(log.durableBytes).every((byte) => byte === 0)).toBe(true);
    expect(bytes.subarray(0, log.durableBytes).includes(0)).toBe(false);
  });

  test('has a snapshot that a child saved, in no time, whatever happens to the power then', () => {
    const host = new TestHost('snapshot', []).start();
    host.ask('SET k 1');
    expect(host.ask('BGSAVE')).toBe('+Background saving started');
    expect(host.ask('SET k 2')).toBe('+OK');
    const saved = host.losesPower().find(({ name }) => name === 'dump.rdb')!;
    expect(saved.leftBytes).toBe(saved.writtenBytes);
    expect(host.start().ask('GET k')).toBe('$1\r\n1');
    host.sleep(200);
    expect(host.ask('INFO persistence')).toContain('rdb_bgsave_in_progress:0');
    host.kill();
  });

  test('writes its log anew in a child, and goes on with it', () => {
    const host = new TestHost('rewritten', ALWAYS).start();
    host.ask('SET k 1');
    host.ask('BGREWRITEAOF');
    host.sleep(300);
    host.ask('SET l 2');
    expect(host.ask('INFO persistence')).toContain('aof_last_bgrewrite_status:ok');
    host.losesPower();
    host.start();
    expect([host.ask('GET k'), host.ask('GET l')]).toEqual(['$1\r\n1', '$1\r\n2']);
    host.kill();
  });

  test('of which there are copies has its files for itself in each, and they are as they were when it was copied', () => {
    const [first, second, third] = ['copied-1', 'copied-2', 'copied-3'].map((name) => {
      const host = new TestHost(name, EVERYSEC).start('start');
      host.ask('SET before 1');
      host.ready();
      return host;
    });
    first!.ask('SET first 1');
    second!.ask('SET second 1');
    // The first has lost power and is gone: of no concern to others.
    first!.losesPower();
    third!.ask('SET third 1');
    for (const [host, own] of [
      [second!, 'second'],
      [third!, 'third'],
    ] as const) {
      host.kill().start();
      const found = ['before', 'first', 'second', 'third'].filter((key) => host.ask(`GET ${key}`) === '$1\r\n1');
      expect(found).toEqual(['before', own]);
      host.kill();
    }
    // What was not synced when it was copied is not in the copy either.
    const fourth = new TestHost('copied-4', EVERYSEC).start('start');
    fourth.ask('SET before 1');
    fourth.ready();
    fourth.ask('SET fourth 1');
    const log = fourth.losesPower().find(({ name }) => name === LOG)!;
    expect(log.leftBytes).toBeLessThan(log.writtenBytes);
    expect(first!.news.length).toBeGreaterThan(0);
  });

  test('that is the first copy of its original can start again, though that has a file locked for good', () => {
    const host = new TestHost('locked', ['cluster-enabled yes']).start('start');
    host.ready();
    expect(host.ask('PING')).toBe('+PONG');
    expect(host.kill().start().ask('PING')).toBe('+PONG');
    host.kill();
  });

  test('says the same of its files every time', () => {
    const [one, other] = ['same-1', 'same-2'].map((name) => {
      const host = new TestHost(name, EVERYSEC).start();
      host.ask('SET k 1');
      host.ask('BGSAVE');
      host.sleep(1_500);
      host.ask('BGREWRITEAOF');
      host.sleep(1_500);
      host.kill();
      return host.news;
    });
    expect(one!.length).toBeGreaterThan(20);
    expect(other).toEqual(one);
  });
});
