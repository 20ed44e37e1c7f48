/** Servers for all tests of a file, and what such tests need to stay out of each other's way. */
import { afterAll, beforeAll } from 'vitest';
import type { TopologyDescription } from '../../harness/vocabulary/topology.js';
import { startRedis, type TestRedis, until } from './redis-server.js';

/** Of tests that share it: started before the first one, stopped after the last one. Nothing of it is there before. */
export function fileServer(): TestRedis {
  const servers = fileServers(1);
  // What is asked of it is asked of the server that was started meanwhile.
  return new Proxy({} as TestRedis, {
    get(_, name) {
      const [server] = servers;
      if (!server) throw new Error('the server of this file starts before its first test, and not sooner');
      const value: unknown = Reflect.get(server, name, server);
      return typeof value === 'function' ? value.bind(server) : value;
    },
  });
}

/** Several, called r1, r2, ...; empty before the first test. */
export function fileServers(count: number): TestRedis[] {
  const servers: TestRedis[] = [];
  beforeAll(async () => {
    servers.push(...(await startServers(count)));
  });
  afterAll(() => stopServers(servers));
  return servers;
}

/** Of one test, which may pause, stop and kill them. */
export async function ownServers(count: number): Promise<{ nodes: readonly TestRedis[] } & AsyncDisposable> {
  const nodes = await startServers(count);
  return { nodes, [Symbol.asyncDispose]: () => stopServers(nodes) };
}

function startServers(count: number): Promise<TestRedis[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => startRedis(`r${n + 1}`)));
}

async function stopServers(servers: readonly TestRedis[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
}

let lastKey = 0;
/** A key that no other test of the file has. */
export const freshKey = (): string => `key:${lastKey++}`;

/** A lease that is over soon, but not before its client has told of the grant, be it two seconds late on a busy machine. */
export const SHORT_LEASE_MS = 3_000;

/** A lease that its holder renews every third of it, be it three seconds late. */
export const RENEWED_LEASE_MS = 4_500;

/** Resolves when the key has expired or was deleted. */
export async function goneFrom(server: TestRedis, key: string): Promise<void> {
  await until(`${key} is gone`, async () => (await server.redis.exists(key)) === 0);
}

export function redlockOf(servers: readonly TestRedis[]): TopologyDescription {
  return { kind: 'redlock', nodes: servers.map(({ endpoint }) => endpoint) };
}
