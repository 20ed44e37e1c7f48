/** Real redis-servers on loopback for end-to-end tests; disposing kills them and removes their folders. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import type { Endpoint, RedisBinary } from '../../harness/vocabulary/topology.js';

export interface TestRedis extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** A client of the test's own. */
  readonly redis: Redis;
  readonly process: ChildProcess;
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
}

/** A test that ran out of time disposes nothing. */
const running = new Set<() => void>();
process.on('exit', () => {
  for (const kill of running) kill();
});

const binary = findRedis({ cacheFolder: cacheFolder(), say: (line) => process.stderr.write(`${line}\n`) });

/** Starts a server with these arguments after its port; resolves when it answers. */
export async function startRedis(
  name = 'r1',
  args: readonly string[] = [],
  sentinelConf?: string,
  password?: string,
  program: Promise<RedisBinary> = binary,
): Promise<TestRedis> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const server = await tryToStart(name, args, sentinelConf, password, program);
    // Files run at once: between finding a free port and taking it (and the one that a Cluster node takes ten thousand
    // above it) another one may have been faster. Then this server has ended, or another answers in its place.
    const ended = once(server.process, 'exit').then(() => false);
    if (await Promise.race([ended, isItself(server)])) return server;
    await server[Symbol.asyncDispose]();
  }
  throw new Error(`${name}: it ended, or what answers on its port is another process, five times in a row`);
}

/** False where what answers on the port is another file's server. */
async function isItself({ redis, process }: TestRedis): Promise<boolean> {
  const info = await redis.info('server').catch(() => '');
  return info.includes(`\r\nprocess_id:${process.pid}\r\n`);
}

async function tryToStart(
  name: string,
  args: readonly string[],
  sentinelConf: string | undefined,
  password: string | undefined,
  program: Promise<RedisBinary>,
): Promise<TestRedis> {
  const { loader = [], path, env } = await program;
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-redis-'));
  // Ten thousand above its port a Cluster node talks to the others.
  const port = await freePort(55_000);
  const conf = join(folder, 'redis.conf');
  writeFileSync(conf, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n${sentinelConf ?? 'save ""'}\n`);
  const asked = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const sentinel = sentinelConf === undefined ? [] : ['--sentinel'];
  const start = () =>
    spawn(loader[0] ?? path, [...[...loader, path].slice(1), conf, ...sentinel, ...asked, ...args], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
  let child = start();
  const atExit = () => void child.kill('SIGKILL');
  running.add(atExit);
  const redis = new Redis({ host: '127.0.0.1', port, password, retryStrategy: () => 10, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    endpoint: { name, host: '127.0.0.1', port },
    redis,
    get process() {
      return child;
    },
    kill,
    async restart() {
      child = start();
      await redis.ping();
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await kill();
      running.delete(atExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that was free a moment ago. */
export async function freePort(below = 65_536): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    if (port < below) return port;
  }
}

/** Three nodes that make a Cluster: two primaries, which share the slots half and half, and a replica of the first. */
export async function startCluster(password?: string): Promise<TestRedis[]> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '3000', '--repl-diskless-sync-delay', '0'];
  const nodes = await Promise.all(['r1', 'r2', 'r3'].map((name) => startRedis(name, args, undefined, password)));
  const [first, second, replica] = nodes as [TestRedis, TestRedis, TestRedis];
  const halves = [0, 8_192].map((from) => Array.from({ length: 8_192 }, (_, n) => from + n));
  await first.redis.call('CLUSTER', 'ADDSLOTS', ...halves[0]!);
  await second.redis.call('CLUSTER', 'ADDSLOTS', ...halves[1]!);
  for (const [n, { redis }] of nodes.entries()) await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
  const meet = (a: TestRedis, b: TestRedis) => a.redis.call('CLUSTER', 'MEET', b.endpoint.host, b.endpoint.port);
  await Promise.all([meet(first, second), meet(first, replica), meet(second, replica)]);
  const firstId = await first.redis.call('CLUSTER', 'MYID');
  await until('the replica knows its primary', () =>
    replica.redis.call('CLUSTER', 'REPLICATE', String(firstId)).then(
      () => true,
      () => false,
    ),
  );
  await until('all agree', async () => {
    const infos = await Promise.all(nodes.map(({ redis }) => redis.call('CLUSTER', 'INFO')));
    return infos.every((info) => String(info).includes('cluster_state:ok'));
  });
  return nodes;
}

/** Resolves once `condition` holds; rejects with `what` after a generous bound, which no passing test comes near. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | false> | T | false,
): Promise<Exclude<T, false>> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const result = await condition();
    if (result !== false) return result as Exclude<T, false>;
    if (Date.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
