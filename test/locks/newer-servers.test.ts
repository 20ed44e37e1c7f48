/** Locks of commands that not every server has, on a server that has them; and on one that has not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diagnose } from '../../harness/machine/doctor.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import { inspectServer } from '../../harness/machine/server-commands.js';
import { fileServer, goneFrom, SHORT_LEASE_MS } from '../support/file-servers.js';
import { connectedClient, startClient } from '../support/lock-client.js';
import { withClients } from '../support/lock-clients.js';
import { single } from '../support/locks-here.js';
import { namedServerHere } from '../support/named-server.js';
import { skipWhere } from '../support/needs.js';
import { startRedis, type TestRedis, until } from '../support/redis-server.js';

const old = fileServer();
const valkey = await namedServerHere('valkey@9');
const redis = await namedServerHere('redis@8.0');

describe('on Valkey 9', skipWhere(valkey ? undefined : 'no Valkey 9'), () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis('r1', [], undefined, undefined, Promise.resolve(valkey!));
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('a server says what it is, and which of some commands it has', async () => {
    expect(await inspectServer(valkey!, ['DELIFEQ', 'HPEXPIRE', 'DELEX', 'GET'])).toEqual({
      kind: 'valkey',
      commands: ['DELIFEQ', 'HPEXPIRE', 'GET'],
    });
  });

  test('doctor says that slots can be moved at once', async () => {
    const findings = await diagnose({ cacheFolder: cacheFolder(), server: 'valkey@9' });
    expect(findings.find(({ what }) => what === 'slots at once')).toMatchObject({ ok: true });
  });

  test('hash-ttl: readers share, a writer excludes; each has a time of its own', () =>
    withClients(
      () => connectedClient('hash-ttl', single(server)),
      async ({ a, b, c, key }) => {
        const brief = await a.acquire(key, SHORT_LEASE_MS, 0, 'read');
        const long = await b.acquire(key, 60_000, 0, 'read');
        expect([brief.type, long.type]).toEqual(['ok', 'ok']);
        expect(await c.acquire(key, 60_000)).toMatchObject({ type: 'fail', reason: 'held' });
        // The field of one ends, and the other's is there.
        await until('one has ended', async () => (await server.redis.hkeys(key)).length === 1);
        expect(await c.acquire(key, 60_000)).toMatchObject({ type: 'fail', reason: 'held' });
        expect(await a.release(brief.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect(await a.extend(brief.id, 60_000)).toMatchObject({ type: 'fail' });
        expect(await b.extend(long.id, 90_000)).toMatchObject({ type: 'ok' });
        expect((await b.release(long.id)).type).toBe('ok');
        const written = await c.acquire(key, SHORT_LEASE_MS);
        expect(written.type).toBe('ok');
        expect(await b.acquire(key, 60_000, 0, 'read')).toMatchObject({ type: 'fail', reason: 'held' });
        await goneFrom(server, key);
        expect((await b.acquire(key, 60_000, 0, 'read')).type).toBe('ok');
      },
      3,
    ));

  test('hash-ttl-semaphore: two permits, one of which comes back by itself', () =>
    withClients(
      () => connectedClient('hash-ttl-semaphore', single(server)),
      async ({ a, b, c, key }) => {
        expect((await a.acquire(key, SHORT_LEASE_MS)).type).toBe('ok');
        const kept = await b.acquire(key, 60_000);
        expect(kept.type).toBe('ok');
        expect((await c.acquire(key, 60_000, 60_000)).type).toBe('ok');
        expect(await a.acquire(key, 60_000)).toMatchObject({ type: 'fail', reason: 'held' });
        expect((await b.release(kept.id)).type).toBe('ok');
        expect((await a.acquire(key, 60_000)).type).toBe('ok');
      },
      3,
    ));

  test("ifeq: its extension keeps the expiry, and is refused for what is another's", () =>
    withClients(
      () => connectedClient('ifeq', single(server)),
      async ({ a, b, key }) => {
        const late = await a.acquire(key, SHORT_LEASE_MS);
        await goneFrom(server, key);
        const next = await b.acquire(key, 60_000);
        expect(await a.extend(late.id, 60_000)).toMatchObject({ type: 'fail', reason: 'not-owner' });
        expect((await b.extend(next.id, 90_000)).type).toBe('ok');
        expect(await server.redis.pttl(key)).toBeGreaterThan(60_000);
      },
    ));
});

describe('on Redis 8', skipWhere(redis ? undefined : 'no Redis 8'), () => {
  const start = (...args: string[]) => startRedis('r1', args, undefined, undefined, Promise.resolve(redis!));

  test('waitaof: a grant that was synced outlives its server', async () => {
    await using server = await start('--appendonly', 'yes', '--appendfsync', 'always');
    await using client = await connectedClient('waitaof', single(server));
    // A disk may be slow, and a try that it keeps waiting is refused.
    expect((await client.acquire('lock', 60_000, 60_000)).type).toBe('ok');
    await server.kill();
    await server.restart();
    expect(await server.redis.exists('lock')).toBe(1);
  });

  test.each([[[]], [['--appendonly', 'yes', '--appendfsync', 'no']]])(
    'waitaof: nothing is granted where nothing is synced: %s',
    async (args: string[]) => {
      await using server = await start(...args);
      await using client = await connectedClient('waitaof', single(server));
      expect(await client.acquire('lock', 60_000)).toMatchObject({ type: 'fail', reason: 'not-synced' });
      expect(await server.redis.exists('lock')).toBe(0);
    },
  );
});

test('a server without their commands is refused in one line', async () => {
  const { commands } = await inspectServer(await findRedis({ cacheFolder: cacheFolder(), say: () => {} }), [
    'HPEXPIRE',
  ]);
  if (commands.length > 0) return;
  await using client = startClient('hash-ttl');
  expect(await client.init(single(old))).toMatchObject({
    type: 'fail',
    reason: expect.stringMatching(
      /this server has no HPEXPIRE \(Redis 7\.4 and Valkey 9\): choose another one with --server/,
    ),
  });
});
