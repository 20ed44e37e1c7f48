/** What node-redis' clients send beside single commands, and what the log has of it. The rest is in `client.test.ts`, with ioredis. */
import type { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandLog, type OpCommands } from '../../../../harness/client/command-log.js';
import type { NodeRedisPackage } from '../../../../harness/client/node-redis/package.js';
import { topologyAccess } from '../../../../harness/client/topology-access.js';
import { startRedis, type TestRedis, until } from '../../../support/redis-server.js';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server[Symbol.asyncDispose]());

const log = new CommandLog();
const notices = { step: async () => {}, renewed: () => {} };

type Client = ReturnType<typeof createClient>;

async function connected(load: () => Promise<unknown>, commandTimeoutMs = 5_000): Promise<Client> {
  const options = { client: 'c1', seed: 1, leaseMs: 5_000, commandTimeoutMs };
  const loaded = async () => (await load()) as unknown as NodeRedisPackage;
  const topology = { kind: 'single', node: server.endpoint } as const;
  return (await topologyAccess(topology, options, log, notices, loaded).nodeRedis()) as unknown as Client;
}

/** What became of what was asked, as its promise and as the log tell it. */
async function outcome(ask: () => Promise<unknown>): Promise<{ value?: unknown; error?: Error; commands: OpCommands }> {
  const commands = log.begin();
  try {
    return { value: await ask(), commands };
  } catch (error) {
    return { error: error as Error, commands };
  } finally {
    log.end(commands);
  }
}

const named = (commands: OpCommands) => commands.map(({ name, state }) => `${name} ${state}`);

describe.each([
  ['5', () => import('redis-5')],
  ['6', () => import('redis')],
])('node-redis %s', (_, load) => {
  test('the commands of a transaction and of a pipeline are stamped, and its client has its name', async () => {
    const client = await connected(load);
    const { value, commands } = await outcome(() => client.multi().set('k', '1', { PX: 5_000 }).get('k').exec());
    expect(value).toEqual(['OK', '1']);
    expect(named(commands)).toEqual(['SET answered', 'GET answered']);
    expect(commands[0]!.args).toEqual(['k', '1', 'PX', '5000']);
    expect(commands[0]!.sentNs).toBeGreaterThan(0);
    const piped = await outcome(() => client.multi().get('k').execAsPipeline());
    expect(named(piped.commands)).toEqual(['GET answered']);
    expect(await client.clientGetName()).toBe('c1');
    client.destroy();
  });

  test('what cannot be sent at all is a mistake of the lock, and done by nobody', async () => {
    const client = await connected(load);
    const { error, commands } = await outcome(() => client.sendCommand(['GET', 7 as unknown as string]));
    expect(error).toBeInstanceOf(TypeError);
    expect(named(commands)).toEqual(['GET refused']);
    client.destroy();
  });

  test('a client of its own is left alone, and so are its commands', async () => {
    const guarded = await connected(load);
    const { createClient } = (await load()) as unknown as NodeRedisPackage;
    const url = `redis://127.0.0.1:${server.endpoint.port}`;
    const own = createClient({ url }) as unknown as Client;
    await own.connect();
    const { value, commands } = await outcome(() => own.ping());
    expect(value).toBe('PONG');
    expect(commands).toEqual([]);
    own.destroy();
    guarded.destroy();
  });

  test('a transaction that is asked for while it is not connected is never sent', async () => {
    const client = await connected(load);
    await server.kill();
    await until('it has noticed', () => !client.isReady);
    const { error, commands } = await outcome(() => client.multi().set('late', '1').exec());
    expect(error).toMatchObject({ name: 'NeverSentError' });
    expect(named(commands)).toEqual(['SET unsent']);
    await server.restart();
    await until('it is back', async () => (await outcome(() => client.ping())).value === 'PONG');
    expect(await server.redis.exists('late')).toBe(0);
    client.destroy();
  });
});
