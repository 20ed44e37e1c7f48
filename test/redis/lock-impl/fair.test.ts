/** `fair`: who gets the lock next, each client a process of its own. */
import { expect, test } from 'vitest';
import { fairProtocol } from '../../../lock-impl/fair-protocol.js';
import { companionKey } from '../../../lock-impl/keys.js';
import { fileServer, freshKey, RENEWED_LEASE_MS } from '../../support/file-servers.js';
import { type Answer, connectedClient, type LockClientProcess } from '../../support/lock-client.js';
import { withClients } from '../../support/lock-clients.js';
import { clientHere, single } from '../../support/locks-here.js';
import { until } from '../../support/redis-server.js';

const server = fileServer();

const connected = (options = {}) => connectedClient('fair', single(server), options);
const queue = (key: string) => server.redis.lrange(companionKey(key, 'queue'), 0, -1);

/** Waits for the lock, and resolves once the queue has taken it in. */
async function queueUp(client: LockClientProcess, key: string, leaseMs = 60_000, waitMs = 50_000) {
  const before = (await queue(key)).length;
  const granted = client.acquire(key, leaseMs, waitMs);
  granted.catch(() => {}); // of one that is killed
  await until('it is queued', async () => (await queue(key)).length > before);
  return { granted };
}

const steps = (client: LockClientProcess) =>
  client.notices.flatMap((notice) => (notice.type === 'step' ? [[notice.name, notice.hold]] : []));

test.concurrent('is granted in the order of the queue, each client woken by the one before', async () => {
  await using holder = await connected();
  await using first = await connected();
  await using second = await connected();
  await using third = await connected();
  const key = freshKey();
  const held = await holder.acquire(key, 60_000);
  const order: string[] = [];
  const waiting: Promise<Answer>[] = [];
  for (const [name, client] of Object.entries({ first, second, third })) {
    const { granted } = await queueUp(client, key);
    waiting.push(
      granted.then(async (answer) => {
        expect(answer.type).toBe('ok');
        order.push(name);
        return client.release(answer.id);
      }),
    );
  }
  const release = await holder.release(held.id);
  const releases = await Promise.all(waiting);
  expect(order).toEqual(['first', 'second', 'third']);
  for (const [at, { began, type }] of releases.entries()) {
    expect(type).toBe('ok');
    if (at > 0) expect(began!).toBeGreaterThan(releases[at - 1]!.began!);
  }
  // Not one of them waited for a lease.
  expect(releases[2]!.ended! - release.began!).toBeLessThan(10_000e6);
  expect(await queue(key)).toEqual([]);
  const grants = [steps(first), steps(second), steps(third)];
  expect(grants).toEqual(
    Array(3).fill([
      ['queued', 1],
      ['granted', 1],
    ]),
  );
});

test.concurrent('no client passes the queue: a try without a wait is refused though the lock is free', async () => {
  await using holder = await connected();
  // What it has sent when it is stopped is answered, and not in doubt, when it goes on.
  await using waiter = await connected({ commandTimeoutMs: 30_000 });
  const key = freshKey();
  const held = await holder.acquire(key, 60_000);
  const { granted } = await queueUp(waiter, key);
  waiter.process.kill('SIGSTOP');
  expect((await holder.release(held.id)).type).toBe('ok');
  expect(await holder.acquire(key, 60_000)).toMatchObject({ type: 'fail', reason: 'queued-behind' });
  expect(await server.redis.exists(key)).toBe(0);
  waiter.process.kill('SIGCONT');
  expect((await granted).type).toBe('ok');
  expect(await holder.acquire(key, 60_000)).toMatchObject({ type: 'fail', reason: 'held' });
});

test.concurrent('a head of the queue that died delays the others for its deadline, and no longer', async () => {
  await using holder = await connected();
  await using dead = await connected();
  await using alive = await connected();
  const key = freshKey();
  const held = await holder.acquire(key, 60_000);
  const leaseMs = RENEWED_LEASE_MS;
  await queueUp(dead, key, leaseMs);
  const { granted } = await queueUp(alive, key, leaseMs);
  await dead[Symbol.asyncDispose]();
  const diedNs = Number(process.hrtime.bigint());
  const [head] = await queue(key);
  const release = await holder.release(held.id);
  const left = Number(await server.redis.zscore(companionKey(key, 'deadlines'), head!)) - Date.now();
  const answer = await granted;
  expect(answer.type).toBe('ok');
  // It had its deadline, which it could not move any more.
  expect(answer.ended! - release.ended!).toBeGreaterThan((left - 100) * 1e6);
  expect(answer.ended! - diedNs).toBeLessThan((leaseMs + 20_000) * 1e6);
  expect(await queue(key)).toEqual([]);
});

test.concurrent('waiters stay in the queue for longer than their deadline, because they come back', async () => {
  await using holder = await connected();
  await using waiter = await connected();
  const key = freshKey();
  const held = await holder.acquire(key, 60_000);
  const deadlines = companionKey(key, 'deadlines');
  const { granted } = await queueUp(waiter, key, RENEWED_LEASE_MS);
  const [owner] = await queue(key);
  const first = Number(await server.redis.zscore(deadlines, owner!));
  await until(
    'its deadline has moved on by as much as it was given',
    async () => Number(await server.redis.zscore(deadlines, owner!)) > first + RENEWED_LEASE_MS,
  );
  expect(await queue(key)).toEqual([owner]);
  expect(steps(waiter)).toEqual([['queued', 1]]);
  await holder.release(held.id);
  expect((await granted).type).toBe('ok');
});

test.concurrent('a client that stops waiting leaves the queue', async () => {
  await using holder = await connected();
  await using impatient = await connected();
  const key = freshKey();
  await holder.acquire(key, 60_000);
  expect(await impatient.acquire(key, 60_000, 300)).toMatchObject({ type: 'fail', reason: 'held' });
  expect(steps(impatient)).toEqual([['queued', 1]]);
  expect(await queue(key)).toEqual([]);
  expect(await server.redis.exists(companionKey(key, 'deadlines'))).toBe(0);
});

test.concurrent('a head that leaves when the lock is free lets the next one in at once', async () => {
  await using here = clientHere(server);
  await using holder = await connected();
  await using patient = await connected();
  const key = freshKey();
  const held = await holder.acquire(key, 60_000);
  const protocol = fairProtocol(here.access, await here.access.redis(), key);
  expect(await protocol.take('ghost', 60_000, 60_000)).toMatchObject({ granted: false, queued: true });
  const { granted } = await queueUp(patient, key);
  await holder.release(held.id);
  expect(await queue(key)).toHaveLength(2);
  const leftNs = here.access.nowNs();
  await protocol.leave!('ghost');
  // It would have come back by itself after 20 s.
  expect((await granted).ended! - leftNs).toBeLessThan(10_000e6);
});

test.concurrent('nests, is renewed, and is lost like any other of its family', () =>
  withClients(
    () => connected(),
    async ({ a, b, key }) => {
      const outer = await a.acquire(key, RENEWED_LEASE_MS);
      const inner = await a.acquire(key, RENEWED_LEASE_MS);
      expect((await b.acquire(key, RENEWED_LEASE_MS)).type).toBe('fail');
      const overNs = inner.ended! + RENEWED_LEASE_MS * 1e6;
      await until('renewed', () => a.notices.some(({ type, at }) => type === 'renewed' && at > overNs));
      expect((await a.release(inner.id)).type).toBe('ok');
      expect((await a.release(outer.id)).type).toBe('ok');
      const again = await a.acquire(key, RENEWED_LEASE_MS);
      await server.redis.del(key);
      expect(await a.notice('lost')).toMatchObject({ hold: again.id });
    },
  ));
