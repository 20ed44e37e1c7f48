/** `reentrant` and `spin`: every form of the API against a real server, and the lock as the harness drives it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TopologyAccess } from '../../../harness/vocabulary/lock.js';
import { companionKey } from '../../../lock-impl/keys.js';
import { NotOwnerError, type OwnerHold, ReentrantLock } from '../../../lock-impl/reentrant-lock.js';
import { reentrantProtocol } from '../../../lock-impl/reentrant-protocol.js';
import { listening } from '../../../lock-impl/waiting.js';
import { fileServer, freshKey, goneFrom, RENEWED_LEASE_MS, SHORT_LEASE_MS } from '../../support/file-servers.js';
import { connectedClient, type LockClientProcess } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { type ClientHere, clientHere, single } from '../../support/locks-here.js';
import { startRedis, type TestRedis, until } from '../../support/redis-server.js';

const server = fileServer();
let here: ClientHere;
beforeAll(() => {
  here = clientHere(server);
});
afterAll(() => here[Symbol.asyncDispose]());

const listeners = async (key: string, on: TestRedis = server) =>
  Number(((await on.redis.call('PUBSUB', 'NUMSUB', companionKey(key, 'free'))) as [string, number])[1]);

describe.concurrent('the forms of the API', () => {
  const WATCHDOG_MS = RENEWED_LEASE_MS;
  let callers = 0;

  /** The lock of a caller of its own. */
  async function lockOf(
    key: string,
    access: TopologyAccess = here.access,
    onRenewed?: (grants: readonly OwnerHold[], sentNs: number, leaseMs: number) => void,
  ): Promise<ReentrantLock> {
    const channel = companionKey(key, 'free');
    const protocol = reentrantProtocol(await access.redis(), key, channel, () => listening(access, channel));
    const owner = `client:${callers++}`;
    return new ReentrantLock({ access, protocol, owner, watchdogMs: WATCHDOG_MS, onRenewed });
  }

  test('tryLock(): one try', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    expect(await a.tryLock()).toBe(true);
    expect(await b.tryLock()).toBe(false);
    await a.unlock();
    expect(await b.tryLock()).toBe(true);
    await b.unlock();
  });

  test('tryLock(wait): waits that long and no longer', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    await a.lock();
    const beganNs = here.access.nowNs();
    expect(await b.tryLock(150)).toBe(false);
    expect(here.access.nowNs() - beganNs).toBeGreaterThanOrEqual(150e6);
    const waiting = b.tryLock(10_000);
    await until('it listens', async () => (await listeners(key)) === 1);
    await a.unlock();
    expect(await waiting).toBe(true);
    await b.unlock();
  });

  test('tryLock(wait, lease): expires, and is not renewed', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    expect(await a.tryLock(0, SHORT_LEASE_MS)).toBe(true);
    // b waits for longer than a's lease: only its end can let b in.
    expect(await b.tryLock(20_000, 60_000)).toBe(true);
    expect(await server.redis.pttl(key)).toBeGreaterThan(50_000);
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
    expect(await b.isHeldByMe()).toBe(true);
    await b.unlock();
  });

  test('lock(): waits as long as it takes, and is renewed', async () => {
    const key = freshKey();
    const renewed: number[] = [];
    const a = await lockOf(key, here.access, (_grants, sentNs) => void renewed.push(sentNs));
    const b = await lockOf(key);
    await a.lock();
    const waiting = b.lock();
    await until('renewed for longer than its lease', () => renewed.length >= 4);
    expect(await a.isHeldByMe()).toBe(true);
    await a.unlock();
    await waiting;
    expect(await b.isHeldByMe()).toBe(true);
    await b.unlock();
    expect(await a.isHeld()).toBe(false);
  });

  test('lock(lease): expires', async () => {
    const key = freshKey();
    const a = await lockOf(key);
    await a.lock(80);
    expect(await server.redis.pttl(key)).toBeLessThanOrEqual(80);
    await goneFrom(server, key);
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
  });

  test('isHeld(), isHeldByMe(), holdCount(): the same caller nests, another does not', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    expect(await a.isHeld()).toBe(false);
    await a.lock();
    await a.lock();
    expect(await a.tryLock()).toBe(true);
    expect([await a.holdCount(), await b.holdCount()]).toEqual([3, 0]);
    expect([await a.isHeldByMe(), await b.isHeldByMe(), await b.isHeld()]).toEqual([true, false, true]);
    await a.unlock();
    await a.unlock();
    expect(await b.tryLock()).toBe(false);
    expect(await a.holdCount()).toBe(1);
    await a.unlock();
    expect(await b.isHeld()).toBe(false);
  });

  test('unlock(): only its owner, and as often as it locked', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
    await a.lock();
    await expect(b.unlock()).rejects.toThrow(NotOwnerError);
    expect(await a.holdCount()).toBe(1);
    await a.unlock();
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
  });

  test('forceUnlock() frees it whichever client holds it, and wakes waiters', async () => {
    const key = freshKey();
    const [a, b] = [await lockOf(key), await lockOf(key)];
    expect(await b.forceUnlock()).toBe(false);
    const grant = await a.acquire({ leaseMs: 60_000, watched: true, waitMs: 0 });
    await a.lock();
    const waiting = b.tryLock(30_000);
    await until('it listens', async () => (await listeners(key)) === 1);
    expect(await (await lockOf(key)).forceUnlock()).toBe(true);
    expect(await waiting).toBe(true);
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
    expect(grant.lost.aborted).toBe(true);
    await b.unlock();
  });

  test('a nested lock(lease) neither shortens the lease of what is held, nor ends its renewal', async () => {
    const key = freshKey();
    const renewed: number[] = [];
    const a = await lockOf(key, here.access, (_grants, sentNs) => void renewed.push(sentNs));
    await a.lock();
    await a.lock(60);
    expect(await server.redis.pttl(key)).toBeGreaterThan(100);
    await a.unlock();
    const atNs = here.access.nowNs();
    await until('renewed for a whole lease', () => renewed.some((sentNs) => sentNs > atNs + WATCHDOG_MS * 1e6));
    expect(await a.holdCount()).toBe(1);
    await a.unlock();
    expect(await a.isHeld()).toBe(false);
  });

  test('a lock() after a lock(lease) is renewed, and a lock(lease) after a lock() is not', async () => {
    const key = freshKey();
    const renewed: number[] = [];
    const a = await lockOf(key, here.access, (_grants, sentNs) => void renewed.push(sentNs));
    await a.lock(60_000);
    await a.unlock();
    await a.lock();
    await until('renewed', () => renewed.length > 0);
    await a.unlock();
    await a.lock(40);
    await goneFrom(server, key);
    await expect(a.unlock()).rejects.toThrow(NotOwnerError);
  });

  test('what a failed unlock left behind is not taken for held, and can still be unlocked', async () => {
    await using own = await startRedis();
    await using client = clientHere(own);
    const key = freshKey();
    const a = await lockOf(key, client.access);
    const failToUnlock = async () => {
      await own.redis.call('ACL', 'SETUSER', 'default', '-publish');
      await expect(a.unlock()).rejects.toThrow('refused: err');
      await own.redis.call('ACL', 'SETUSER', 'default', '+publish');
      // What is left is to be there for as long as it is looked at.
      expect(await own.redis.pexpire(key, 60_000)).toBe(1);
    };
    await a.lock();
    await failToUnlock();
    expect(await a.holdCount()).toBe(1);
    await a.unlock();
    expect(await a.isHeld()).toBe(false);

    await a.lock();
    await failToUnlock();
    // It is in our own way until its lease is over; and it is not renewed, or that would never be.
    expect(await a.tryLock()).toBe(false);
    await own.redis.pexpire(key, WATCHDOG_MS);
    expect(await a.tryLock(20_000)).toBe(true);
    expect(await a.holdCount()).toBe(1);
    await a.unlock();
  });

  test('an answer that does not come is a doubt, not a refusal', async () => {
    await using own = await startRedis();
    await using client = clientHere(own, undefined, 1_000);
    const a = await lockOf('k', client.access);
    own.process.kill('SIGSTOP');
    await expect(a.tryLock()).rejects.toThrow(/timed out|timeout/i);
    own.process.kill('SIGCONT');
    // The command waits in the server's socket buffer, if the connection was not given up before it got there.
    expect(await until('answers again', () => a.tryLock(20_000).catch(() => false))).toBe(true);
    expect(await a.holdCount()).toBe(1);
  });
});

describe.concurrent.each(['reentrant', 'spin'])('%s, as the harness drives it', (lock) => {
  const connected = () => connectedClient(lock, single(server));
  const renewedUntil = (client: LockClientProcess, ns: number) =>
    until('it was renewed', () => client.notices.some(({ type, at }) => type === 'renewed' && at > ns));

  test('excludes; waits only for the given wait; can be acquired again after the release', () =>
    withClients(connected, async ({ a, b, key }) => {
      const grant = await a.acquire(key);
      expect(grant.value.grantSent).toBeGreaterThanOrEqual(grant.began!);
      expect(grant.value.grantSent).toBeLessThanOrEqual(grant.ended!);
      expect(await b.acquire(key)).toMatchObject({ type: 'fail', reason: 'held' });
      const refused = await b.acquire(key, 5_000, 200);
      expect(refused).toMatchObject({ type: 'fail', reason: 'held' });
      expect(refused.ended! - refused.began!).toBeGreaterThanOrEqual(200e6);
      expect((await a.release(grant.id)).type).toBe('ok');
      expect((await b.acquire(key)).type).toBe('ok');
    }));

  test('nests, and is free after the last release', () =>
    withClients(connected, async ({ a, b, key }) => {
      const outer = await a.acquire(key);
      const inner = await a.acquire(key);
      expect((await a.release(inner.id)).type).toBe('ok');
      expect((await b.acquire(key)).type).toBe('fail');
      expect((await a.release(outer.id)).type).toBe('ok');
      expect((await b.acquire(key)).type).toBe('ok');
    }));

  test('is renewed while it is held, all holds of it, and frees itself when its holder dies', () =>
    withClients(connected, async ({ a, b, key }) => {
      const outer = await a.acquire(key, RENEWED_LEASE_MS);
      const inner = await a.acquire(key, RENEWED_LEASE_MS);
      await renewedUntil(a, inner.value.grantSent + RENEWED_LEASE_MS * 1e6);
      const holds = a.notices.flatMap((notice) => (notice.type === 'renewed' ? [notice.hold] : []));
      expect(new Set(holds)).toEqual(new Set([outer.id, inner.id]));
      expect((await b.acquire(key)).type).toBe('fail');
      await a[Symbol.asyncDispose]();
      expect(await server.redis.pttl(key)).toBeLessThanOrEqual(RENEWED_LEASE_MS);
      expect((await b.acquire(key, RENEWED_LEASE_MS, 20_000)).type).toBe('ok');
    }));

  test('reports that it was lost; a release of the lost hold leaves the next one alone', async () => {
    await using a = await connected();
    const key = freshKey();
    const lost = await a.acquire(key, RENEWED_LEASE_MS);
    await server.redis.del(key);
    expect(await a.notice('lost')).toMatchObject({ hold: lost.id, reason: 'not the owner any more' });
    const next = await a.acquire(key, 60_000);
    expect(await a.release(lost.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
    expect(await server.redis.exists(key)).toBe(1);
    expect((await a.release(next.id)).type).toBe('ok');
    expect(await server.redis.exists(key)).toBe(0);
  });
});

describe.concurrent('a client that waits for reentrant', () => {
  test('is woken by the unlock, long before the lease is over', () =>
    withClients(
      () => connectedClient('reentrant', single(server)),
      async ({ a, b, key }) => {
        const held = await a.acquire(key, 60_000);
        const waiting = b.acquire(key, 60_000, 50_000);
        await until('it listens', async () => (await listeners(key)) === 1);
        const release = await a.release(held.id);
        const granted = await waiting;
        expect(granted.type).toBe('ok');
        expect(granted.ended! - release.began!).toBeLessThan(20_000e6);
        await until('it listens no longer', async () => (await listeners(key)) === 0);
      },
    ));

  test('tries only when there is reason to, not again and again', async () => {
    await using own = await startRedis();
    await using a = await connectedClient('reentrant', single(own));
    await using b = await connectedClient('reentrant', single(own));
    await a.acquire('k', 60_000);
    const evals = async () => Number(/cmdstat_eval:calls=(\d+)/.exec(await own.redis.info('commandstats'))![1]);
    const before = await evals();
    expect((await b.acquire('k', 60_000, SHORT_LEASE_MS)).type).toBe('fail');
    // At once, when it listens, and when the wait is over.
    expect(await evals()).toBe(before + 3);
  });

  test('waits one lease longer at most when the message is lost', () =>
    withClients(
      () => connectedClient('reentrant', single(server)),
      async ({ a, b, key }) => {
        await a.acquire(key, 60_000);
        await server.redis.pexpire(key, 6_000);
        const waiting = b.acquire(key, 60_000, 50_000);
        await until('it listens', async () => (await listeners(key)) === 1);
        await server.redis.del(key);
        const granted = await waiting;
        expect(granted.type).toBe('ok');
        expect(granted.ended! - granted.began!).toBeLessThan(30_000e6);
      },
    ));

  test('listens again after its connection was lost', async () => {
    await using own = await startRedis();
    await withClients(
      () => connectedClient('reentrant', single(own)),
      async ({ a, b, key }) => {
        const held = await a.acquire(key, 60_000);
        const waiting = b.acquire(key, 60_000, 50_000);
        await until('it listens', async () => (await listeners(key, own)) === 1);
        expect(await own.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBeGreaterThan(0);
        await until('it listens again', async () => (await listeners(key, own)) === 1);
        await a.release(held.id);
        const granted = await waiting;
        expect(granted.type).toBe('ok');
        expect(granted.ended! - granted.began!).toBeLessThan(20_000e6);
      },
    );
  });
});
