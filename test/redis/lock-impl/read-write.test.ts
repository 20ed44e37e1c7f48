/** `read-write`: who shares with whom, whose lease ends when, and who is woken. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LockMode } from '../../../harness/vocabulary/protocol.js';
import { companionKey } from '../../../lock-impl/keys.js';
import { readWriteProtocol } from '../../../lock-impl/read-write-protocol.js';
import { NotOwnerError, ReentrantLock } from '../../../lock-impl/reentrant-lock.js';
import { fileServer, freshKey, RENEWED_LEASE_MS } from '../../support/file-servers.js';
import { connectedClient, type LockClientProcess } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { type ClientHere, clientHere, single } from '../../support/locks-here.js';
import { until } from '../../support/redis-server.js';

const server = fileServer();
let here: ClientHere;
beforeAll(() => {
  here = clientHere(server);
});
afterAll(() => here[Symbol.asyncDispose]());

const connected = () => connectedClient('read-write', single(server));
const acquire = (client: LockClientProcess, mode: LockMode, key: string, leaseMs = 60_000, waitMs = 0) =>
  client.request({ op: 'acquire', key, leaseMs, waitMs, mode });
const listens = (key: string) =>
  until('it listens', async () => {
    const [, count] = (await server.redis.call('PUBSUB', 'NUMSUB', companionKey(key, 'free'))) as [string, number];
    return count === 1;
  });

describe.concurrent('two clients', () => {
  test.each<[LockMode, LockMode, string]>([
    ['read', 'read', 'ok'],
    ['read', 'write', 'fail'],
    ['write', 'read', 'fail'],
    ['write', 'write', 'fail'],
  ])('one has it to %s, the other wants to %s: %s', (first, second, outcome) =>
    withClients(connected, async ({ a, b, key }) => {
      const held = await acquire(a, first, key);
      expect(held.type).toBe('ok');
      const wanted = await acquire(b, second, key);
      expect(wanted.type).toBe(outcome);
      if (outcome === 'fail') expect(wanted.reason).toBe('held');
      expect((await a.release(held.id)).type).toBe('ok');
      expect((await acquire(a, 'write', key)).type).toBe(outcome === 'ok' ? 'fail' : 'ok');
    }),
  );

  test('an acquire without a mode is a writer', () =>
    withClients(connected, async ({ a, b, key }) => {
      expect((await a.acquire(key)).type).toBe('ok');
      expect((await acquire(b, 'read', key)).type).toBe('fail');
    }));

  test('a writer waits for the last reader, and is woken by it', () =>
    withClients(
      connected,
      async ({ a, b, c: writer, key }) => {
        const [one, other] = [await acquire(a, 'read', key), await acquire(b, 'read', key)];
        const waiting = acquire(writer, 'write', key, 60_000, 50_000);
        await listens(key);
        expect((await a.release(one.id)).type).toBe('ok');
        const again = await acquire(a, 'read', key);
        expect(again.type).toBe('ok'); // readers pass a writer that waits
        expect((await a.release(again.id)).type).toBe('ok');
        const last = await b.release(other.id);
        const granted = await waiting;
        expect(granted.type).toBe('ok');
        expect(granted.ended!).toBeGreaterThan(last.began!);
        expect(granted.ended! - last.began!).toBeLessThan(20_000e6);
      },
      3,
    ));

  test('a reader waits for the writer, and is woken by it', async () => {
    await using writer = await connected();
    await using reader = await connected();
    const key = freshKey();
    const held = await acquire(writer, 'write', key);
    const waiting = acquire(reader, 'read', key, 60_000, 50_000);
    await listens(key);
    const release = await writer.release(held.id);
    const granted = await waiting;
    expect(granted.type).toBe('ok');
    expect(granted.ended! - release.began!).toBeLessThan(20_000e6);
  });
});

describe.concurrent('one client', () => {
  test('writes, then reads as well; reads on when it stops writing, and others with it', () =>
    withClients(connected, async ({ a, b, key }) => {
      const write = await acquire(a, 'write', key);
      const read = await acquire(a, 'read', key);
      expect([write.type, read.type]).toEqual(['ok', 'ok']);
      expect((await acquire(b, 'read', key)).type).toBe('fail');
      const waiting = acquire(b, 'read', key, 60_000, 50_000);
      await listens(key);
      expect((await a.release(write.id)).type).toBe('ok');
      const shared = await waiting;
      expect(shared.type).toBe('ok');
      expect((await acquire(b, 'write', key)).type).toBe('fail');
      expect((await a.release(read.id)).type).toBe('ok');
      expect((await b.release(shared.id)).type).toBe('ok');
      expect(await server.redis.exists(key, companionKey(key, 'leases'))).toBe(0);
    }));

  test('reads, then stops reading while it still writes', () =>
    withClients(connected, async ({ a, b, key }) => {
      await acquire(a, 'write', key);
      const read = await acquire(a, 'read', key);
      expect((await a.release(read.id)).type).toBe('ok');
      expect((await acquire(b, 'read', key)).type).toBe('fail');
    }));

  test('reads, and blocks itself when it wants to write', async () => {
    await using a = await connected();
    const key = freshKey();
    const read = await acquire(a, 'read', key);
    expect(await acquire(a, 'write', key, 60_000, 200)).toMatchObject({ type: 'fail', reason: 'held' });
    expect((await a.release(read.id)).type).toBe('ok');
    expect((await acquire(a, 'write', key)).type).toBe('ok');
  });

  test.each<LockMode>(['read', 'write'])('nests to %s', (mode) =>
    withClients(connected, async ({ a, b, key }) => {
      const [outer, inner] = [await acquire(a, mode, key), await acquire(a, mode, key)];
      expect((await a.release(inner.id)).type).toBe('ok');
      expect((await acquire(b, 'write', key)).type).toBe('fail');
      expect((await a.release(outer.id)).type).toBe('ok');
      expect((await acquire(b, 'write', key)).type).toBe('ok');
    }),
  );
});

describe.concurrent('leases', () => {
  test('a reader that died holds for its own lease, however long others go on reading', async () => {
    await using dead = await connected();
    await using a = await connected();
    await using writer = await connected();
    const key = freshKey();
    await acquire(a, 'read', key, RENEWED_LEASE_MS);
    await acquire(dead, 'read', key, RENEWED_LEASE_MS);
    expect(await server.redis.zcard(companionKey(key, 'leases'))).toBe(2);
    await dead[Symbol.asyncDispose]();
    // a is renewed on and on; its renewals see that the other is dead.
    await until('the dead one is out', async () => (await server.redis.zcard(companionKey(key, 'leases'))) === 1);
    expect((await acquire(writer, 'write', key)).type).toBe('fail');
    await a[Symbol.asyncDispose]();
    expect((await acquire(writer, 'write', key, RENEWED_LEASE_MS, 20_000)).type).toBe('ok');
  });

  test('a writer that died while it also read frees both', async () => {
    await using dead = await connected();
    await using a = await connected();
    const key = freshKey();
    await acquire(dead, 'write', key, RENEWED_LEASE_MS);
    await acquire(dead, 'read', key, RENEWED_LEASE_MS);
    await dead[Symbol.asyncDispose]();
    expect((await acquire(a, 'write', key, RENEWED_LEASE_MS, 20_000)).type).toBe('ok');
  });

  test('an expired reader learns of it from its release, and takes nothing from others', () =>
    withClients(connected, async ({ a, b, key }) => {
      const mine = await acquire(a, 'read', key, RENEWED_LEASE_MS);
      const [reader] = await server.redis.zrange(companionKey(key, 'leases'), '0', '-1');
      await acquire(b, 'read', key);
      // Its lease is over, for the server.
      await server.redis.zadd(companionKey(key, 'leases'), '1', reader!);
      expect(await a.notice('lost')).toMatchObject({ hold: mine.id });
      expect(await a.release(mine.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
      expect((await acquire(a, 'write', key)).type).toBe('fail');
    }));
});

describe.concurrent('the forms of the API', () => {
  async function lockOf(key: string, mode: LockMode, owner: string): Promise<ReentrantLock> {
    const protocol = readWriteProtocol(here.access, await here.access.redis(), key, mode);
    return new ReentrantLock({ access: here.access, protocol, owner, watchdogMs: 5_000 });
  }

  test('each mode is counted, unlocked and queried separately', async () => {
    const key = freshKey();
    const [readA, writeA] = [await lockOf(key, 'read', 'a'), await lockOf(key, 'write', 'a')];
    const [readB, writeB] = [await lockOf(key, 'read', 'b'), await lockOf(key, 'write', 'b')];
    await readA.lock();
    await readB.lock(60_000);
    expect([await readA.isHeld(), await writeA.isHeld()]).toEqual([true, false]);
    expect([await readA.holdCount(), await readB.holdCount(), await writeB.holdCount()]).toEqual([1, 1, 0]);
    await expect(writeB.unlock()).rejects.toThrow(NotOwnerError);
    expect(await writeB.tryLock(50)).toBe(false);
    expect(await writeB.forceUnlock()).toBe(false);
    expect(await readB.forceUnlock()).toBe(true);
    expect(await writeB.tryLock(0, 60_000)).toBe(true);
    await expect(readA.unlock()).rejects.toThrow(NotOwnerError);
    expect(await readB.tryLock()).toBe(true);
    expect([await writeB.isHeldByMe(), await readB.isHeldByMe(), await readA.isHeldByMe()]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await writeA.forceUnlock()).toBe(true);
    expect([await writeB.isHeldByMe(), await readB.isHeldByMe()]).toEqual([false, true]);
    await readB.unlock();
    expect(await readA.isHeld()).toBe(false);
  });
});
