/** `watchdog`, each client a process of its own: how long it renews, when it stops, and what it says. */
import { expect, test } from 'vitest';
import { fileServer, freshKey, RENEWED_LEASE_MS } from '../../support/file-servers.js';
import { connectedClient, type LockClientProcess } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { single } from '../../support/locks-here.js';
import { startRedis, until } from '../../support/redis-server.js';

const server = fileServer();

const LEASE_MS = RENEWED_LEASE_MS;
const connected = () => connectedClient('watchdog', single(server));
const renewals = (client: LockClientProcess) => client.notices.filter(({ type }) => type === 'renewed');
const renewedUntil = (client: LockClientProcess, ns: number) =>
  until('it was renewed', () => renewals(client).some(({ at }) => at > ns));

test.concurrent('keeps the lock for longer than its lease, and says so', () =>
  withClients(connected, async ({ a, b, key }) => {
    const grant = await a.acquire(key, LEASE_MS);
    expect(grant.value.validForMs).toBeUndefined();
    await renewedUntil(a, grant.value.grantSent + LEASE_MS * 1e6);
    expect(await b.acquire(key, LEASE_MS)).toMatchObject({ type: 'fail', reason: 'held' });
    const [first] = renewals(a);
    expect(first).toMatchObject({ type: 'renewed', hold: grant.id, leaseMs: LEASE_MS });
    // Timers count whole milliseconds.
    expect(first!.at - grant.value.grantSent).toBeGreaterThan((LEASE_MS / 3 - 2) * 1e6);
    expect(a.notices.some(({ type }) => type === 'lost')).toBe(false);
    expect((await a.release(grant.id)).type).toBe('ok');
    expect((await b.acquire(key, LEASE_MS)).type).toBe('ok');
  }));

test.concurrent('renews nothing after the release, not even for the next holder', () =>
  withClients(connected, async ({ a, b, key }) => {
    const first = await a.acquire(key, LEASE_MS);
    await a.notice('renewed');
    await a.release(first.id);
    const before = renewals(a).length;
    const second = await b.acquire(key, LEASE_MS);
    await renewedUntil(b, second.value.grantSent + LEASE_MS * 1e6);
    expect(renewals(a)).toHaveLength(before);
    expect(a.notices.some(({ type }) => type === 'lost')).toBe(false);
  }));

test.concurrent('a holder that dies frees it within one lease', () =>
  withClients(connected, async ({ a, b, key }) => {
    await a.acquire(key, LEASE_MS);
    await a.notice('renewed');
    await a[Symbol.asyncDispose]();
    expect(await server.redis.pttl(key)).toBeLessThanOrEqual(LEASE_MS);
    expect((await b.acquire(key, LEASE_MS, 20_000)).type).toBe('ok');
  }));

test.concurrent('reports the loss of a lock that was taken from it, and leaves the thief alone', async () => {
  await using a = await connected();
  const key = freshKey();
  const grant = await a.acquire(key, LEASE_MS);
  await server.redis.set(key, 'somebody else', 'PX', 60_000);
  expect(await a.notice('lost')).toMatchObject({ hold: grant.id, reason: 'not the owner any more' });
  expect(await server.redis.pttl(key)).toBeGreaterThan(30_000);
  expect(await a.release(grant.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
  expect(await server.redis.get(key)).toBe('somebody else');
});

test.concurrent('reports the loss of a lock when nothing was confirmed for a whole lease', async () => {
  await using own = await startRedis();
  await using a = await connectedClient('watchdog', single(own));
  const grant = await a.acquire('k', LEASE_MS);
  own.process.kill('SIGSTOP');
  const lost = await a.notice('lost');
  own.process.kill('SIGCONT');
  expect(lost).toMatchObject({ hold: grant.id, reason: 'no renewal was confirmed within the lease' });
  const lastNs = Math.max(grant.value.grantSent, ...renewals(a).map(({ at }) => at));
  expect(lost.at - lastNs).toBeGreaterThan(0.9 * LEASE_MS * 1e6);
});

test.concurrent('goes on renewing after a renewal that failed', async () => {
  await using own = await startRedis();
  await using a = await connectedClient('watchdog', single(own));
  const grant = await a.acquire('k', 2 * LEASE_MS);
  await own.redis.call('ACL', 'SETUSER', 'default', '-eval');
  const failedOnce = await until('a renewal was due', () => {
    const due = a.notices.find((notice) => notice.type === 'step' && notice.name === 'before-renewal');
    return due ?? false;
  });
  await until('it was refused', async () => /errorstat_NOPERM/.test(await own.redis.info('errorstats')));
  await own.redis.call('ACL', 'SETUSER', 'default', '+eval');
  expect((await a.notice('renewed')).at).toBeGreaterThan(failedOnce.at);
  expect((await a.release(grant.id)).type).toBe('ok');
});
