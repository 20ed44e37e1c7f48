/**
 * Every canary goes wrong in the way that it names, and its twin in the same situation does not: against real servers, each
 * client a process of its own. Those that need no server are in the unit tests.
 *
 * They mostly wait for leases to end, so they do it side by side: each test has servers of its own.
 */
import { describe, expect, test } from 'vitest';
import type { LockMode, Notice } from '../../harness/vocabulary/protocol.js';
import { canary } from '../support/canary-pairs.js';
import { goneFrom, RENEWED_LEASE_MS, SHORT_LEASE_MS } from '../support/file-servers.js';
import { connectedClient, type LockClientProcess } from '../support/lock-client.js';
import { overtaken } from '../support/lock-clients.js';
import { startRedis, type TestRedis, until } from '../support/redis-server.js';

/** Longer than any test. */
const LONG_MS = 60_000;

canary(
  'blind-del',
  'an expired holder releases, while the next one holds, and a third comes: %s',
  { broken: ['ok'], mended: ['fail'], clients: 3 },
  async ({ a, b, c, key, server }, third) => {
    const { expired } = await overtaken(server, a, b, key);
    await a.release(expired.id);
    expect((await c.acquire(key, LONG_MS)).type).toBe(third);
  },
);

canary(
  'lease-in-seconds',
  'another client within 50 ms of a lease of 20 s: %s',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key }, granted) => {
    const { value } = await a.acquire(key, 20_000);
    expect(value.validForMs).toBeGreaterThan(10_000);
    expect((await b.acquire(key, 20_000, 50)).type).toBe(granted);
  },
);

canary(
  'shared-owner',
  'another client while it is held: %s',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key }, granted) => {
    expect((await a.acquire(key)).type).toBe('ok');
    expect((await b.acquire(key)).type).toBe(granted);
  },
);

canary(
  'reused-owner',
  'an expired hold is released beside a later one of its client; then another: %s',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key, server }, outcome) => {
    const { expired } = await overtaken(server, a, a, key);
    expect((await a.release(expired.id)).type).toBe(outcome);
    expect((await b.acquire(key)).type).toBe(outcome);
  },
);

canary(
  'extend-expired',
  'an expired holder extends: %s; the next one releases: %s',
  { broken: ['ok', 'fail'], mended: ['fail', 'ok'] },
  async ({ a, b, key, server }, extended, released) => {
    const { expired, next } = await overtaken(server, a, b, key);
    expect((await a.extend(expired.id, LONG_MS)).type).toBe(extended);
    expect((await b.release(next.id)).type).toBe(released);
  },
);

canary(
  'silent-unlock',
  'an expired holder releases: %s; the next one still holds',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key, server }, released) => {
    const { expired, next } = await overtaken(server, a, b, key);
    expect((await a.release(expired.id)).type).toBe(released);
    expect(await server.redis.exists(key)).toBe(1);
    expect((await b.release(next.id)).type).toBe('ok');
  },
);

canary(
  'unlock-after-refusal',
  'a client is refused; then another: %s',
  { broken: ['ok'], mended: ['fail'], clients: 3 },
  async ({ a, b, c, key }, third) => {
    expect((await a.acquire(key, LONG_MS)).type).toBe('ok');
    expect((await b.acquire(key, LONG_MS)).type).toBe('fail');
    expect((await c.acquire(key, LONG_MS)).type).toBe(third);
  },
);

canary(
  'unlocked-at-first',
  'locked twice and unlocked once; then another: %s',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key }, granted) => {
    await a.acquire(key, LONG_MS);
    const { id } = await a.acquire(key, LONG_MS);
    expect((await a.release(id)).type).toBe('ok');
    expect((await b.acquire(key, LONG_MS)).type).toBe(granted);
  },
);

canary(
  'unlock-skipped',
  'forty are locked and unlocked; all could be: %s',
  { broken: [false], mended: [true] },
  async ({ a, key }, areFree) => {
    const free = [];
    for (let n = 0; n < 40; n++) {
      const { id } = await a.acquire(`${key}-${n}`, LONG_MS);
      expect((await a.release(id)).type).toBe('ok');
      free.push((await a.acquire(`${key}-${n}`, LONG_MS)).type === 'ok');
    }
    expect(free.every((isFree) => isFree)).toBe(areFree);
  },
);

canary(
  'adopted-key',
  'a successor of a holder that died takes its key, which ends before, for a grant of a whole lease: %s',
  { broken: [true], mended: [false] },
  async ({ a, b, key, server }, isTaken) => {
    // Both run on the machine c1.
    expect((await a.acquire(key, LONG_MS)).type).toBe('ok');
    await a[Symbol.asyncDispose]();
    const granted = await b.acquire(key, 3 * LONG_MS);
    expect(granted.type === 'ok' && granted.value.validForMs > 2 * LONG_MS).toBe(isTaken);
    expect(await server.redis.pttl(key)).toBeLessThan(LONG_MS);
  },
);

describe.concurrent('renewed by its holder', () => {
  const LEASE_MS = RENEWED_LEASE_MS;

  /** What `client` says of its lock first of all that happened after `ns`. */
  const toldAfter = (client: LockClientProcess, ns: number) =>
    until('it was renewed or lost', () => {
      const told = client.notices.find(({ type, at }) => (type === 'renewed' || type === 'lost') && at > ns);
      return told?.type ?? false;
    });

  canary(
    'renewal-unchecked',
    'paused for a lease, while another holds: %s',
    { broken: ['renewed'], mended: ['lost'] },
    async ({ a, b, key, server }, told) => {
      await a.acquire(key, LEASE_MS);
      a.process.kill('SIGSTOP');
      await goneFrom(server, key);
      const { value } = await b.acquire(key, LONG_MS);
      a.process.kill('SIGCONT');
      expect(await toldAfter(a, value.grantSent)).toBe(told);
      const leftMs = await server.redis.pttl(key);
      expect(leftMs > LEASE_MS).toBe(told === 'lost');
    },
  );

  canary(
    'renewal-recreates',
    'paused for a lease, while another held and released: %s; then another: %s',
    { broken: ['renewed', 'fail'], mended: ['lost', 'ok'] },
    async ({ a, b, key, server }, told, granted) => {
      await a.acquire(key, LEASE_MS);
      a.process.kill('SIGSTOP');
      await goneFrom(server, key);
      const { id, value } = await b.acquire(key, LONG_MS);
      expect((await b.release(id)).type).toBe('ok');
      a.process.kill('SIGCONT');
      expect(await toldAfter(a, value.grantSent)).toBe(told);
      expect((await b.acquire(key)).type).toBe(granted);
    },
  );

  canary(
    'watchdog-dies',
    'one renewal fails; then another: %s',
    { broken: ['ok'], mended: ['fail'] },
    async ({ a, b, key, server }, granted) => {
      await server.redis.call('ACL', 'SETUSER', 'default', '-eval');
      await a.acquire(key, 2 * LEASE_MS);
      await until('a renewal was refused', async () => /errorstat_NOPERM/.test(await server.redis.info('errorstats')));
      await server.redis.call('ACL', 'SETUSER', 'default', '+eval');
      if (granted === 'ok') await goneFrom(server, key);
      else await a.notice('renewed');
      expect((await b.acquire(key)).type).toBe(granted);
      expect(a.notices.some(({ type }) => type === 'lost')).toBe(false);
    },
  );
});

describe.concurrent('reentrant', () => {
  canary(
    'swapped-arguments',
    'released, and wanted by another: %s',
    { broken: ['fail'], mended: ['ok'] },
    async ({ a, b, key }, granted) => {
      const { id } = await a.acquire(key, RENEWED_LEASE_MS);
      const released = await a.release(id);
      expect(released.type).toBe('ok');
      const goesOn = (notice: Notice) => notice.type === 'step' && notice.at > released.ended!;
      if (granted === 'fail') await until('it is renewed all the same', () => a.notices.some(goesOn));
      expect((await b.acquire(key)).type).toBe(granted);
    },
  );

  canary(
    'negative-expiry',
    'another client while it is held: %s',
    { broken: ['ok'], mended: ['fail'] },
    async ({ a, b, key }, granted) => {
      expect((await a.acquire(key)).type).toBe('ok');
      expect((await b.acquire(key)).type).toBe(granted);
    },
  );

  canary(
    'count-not-reset',
    'locked again after a lease that ran out, while another holds: %s',
    { broken: ['ok'], mended: ['fail'] },
    async ({ a, b, key, server }, granted) => {
      const { expired } = await overtaken(server, a, b, key);
      expect(await a.release(expired.id)).toMatchObject({ type: 'fail', reason: 'not-owner' });
      expect((await a.acquire(key)).type).toBe(granted);
    },
  );

  canary(
    'lost-wake-up',
    'the holder dies, and a waiter sleeps on beside a free lock: %s',
    { broken: [true], mended: [false], clients: 3 },
    async ({ a, b, c, key, server }, sleepsOn) => {
      await a.acquire(key, 2 * RENEWED_LEASE_MS);
      await a[Symbol.asyncDispose]();
      await server.redis.config('RESETSTAT');
      let answered = false;
      const waiting = b.acquire(key, LONG_MS, LONG_MS).finally(() => {
        answered = true;
      });
      await until('it listens and has looked once more', async () =>
        /cmdstat_eval:calls=2,/.test(await server.redis.info('commandstats')),
      );
      // A waiter that looks again at the right time has it at once.
      if (sleepsOn) {
        await goneFrom(server, key);
        const { type, id } = await c.acquire(key, LONG_MS);
        expect({ type, answered }).toEqual({ type: 'ok', answered: false });
        await c.release(id); // publishes
      }
      expect((await waiting).type).toBe('ok');
    },
  );
});

canary(
  'queue-jumper',
  'a newcomer, when it is free and another is queued: %s',
  { broken: ['ok', undefined], mended: ['fail', 'queued-behind'], clients: 3 },
  async ({ a, b, c, key }, type, reason) => {
    const { id } = await a.acquire(key, LONG_MS);
    void b.acquire(key, LONG_MS, LONG_MS).catch(() => {}); // it dies waiting
    await until('it is queued', () => b.notices.some((notice) => notice.type === 'step' && notice.name === 'queued'));
    b.process.kill('SIGSTOP');
    expect((await a.release(id)).type).toBe('ok');
    const newcomer = await c.acquire(key, LONG_MS);
    expect([newcomer.type, newcomer.reason]).toEqual([type, reason]);
  },
);

canary(
  'upgrade-beside-readers',
  'two readers want to write: %s',
  { broken: ['ok'], mended: ['fail'] },
  async ({ a, b, key }, granted) => {
    const acquire = (client: LockClientProcess, mode: LockMode) =>
      client.request({ op: 'acquire', key, leaseMs: LONG_MS, waitMs: 0, mode });
    const reads = [await acquire(a, 'read'), await acquire(b, 'read')];
    expect(reads.map(({ type }) => type)).toEqual(['ok', 'ok']);
    const writes = [await acquire(a, 'write'), await acquire(b, 'write')];
    expect(writes.map(({ type }) => type)).toEqual([granted, granted]);
    if (granted === 'ok') return;
    // A sole reader can do it, and then no other client reads beside it.
    await b.release(reads[1]!.id);
    expect((await acquire(a, 'write')).type).toBe('ok');
    expect((await acquire(b, 'read')).type).toBe('fail');
  },
);

canary(
  'fence-per-client',
  'the token of a later holder is greater: %s',
  { broken: [false], mended: [true] },
  async ({ a, b, key }, greater) => {
    const tokens: number[] = [];
    for (const client of [a, a, b]) {
      const grant = await client.acquire(key);
      tokens.push(grant.value.token);
      expect((await client.release(grant.id)).type).toBe('ok');
    }
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
    expect(tokens[2]! > tokens[1]!).toBe(greater);
  },
);

canary(
  'permit-returned-twice',
  'released when its time is over: %s; a third holder: %s',
  { broken: ['ok', 'ok'], mended: ['fail', 'fail'] },
  async ({ a, b, key, server }, released, third) => {
    const { id } = await a.acquire(key, SHORT_LEASE_MS);
    await until('the timer has returned it', async () => {
      const kind = await server.redis.type(key);
      return kind === 'none' || (kind === 'string' && (await server.redis.get(key)) === '2');
    });
    expect((await a.release(id)).type).toBe(released);
    const outcomes = [await b.acquire(key, LONG_MS), await b.acquire(key, LONG_MS), await b.acquire(key, LONG_MS)];
    expect(outcomes.map(({ type }) => type)).toEqual(['ok', 'ok', third]);
  },
);

describe.concurrent('redlock', () => {
  canary(
    'half-quorum',
    'two nodes of five are free: %s',
    { broken: ['ok'], mended: ['fail'], servers: 5 },
    async ({ a, b, key, nodes }, granted) => {
      for (const node of nodes.slice(3)) await node.redis.set(key, 'somebody');
      expect((await a.acquire(key, LONG_MS)).type).toBe('ok');
      for (const node of nodes.slice(3)) await node.redis.del(key);
      expect((await b.acquire(key, LONG_MS)).type).toBe(granted);
    },
  );

  canary(
    'no-validity-check',
    'the third of three votes comes when the lease is over and another holds: %s',
    {
      broken: ['ok', undefined],
      mended: ['fail', 'granted-late'],
      clients: 1,
      servers: 5,
    },
    async ({ a, key, nodes }, type, reason) => {
      const [first, second, third, ...others] = nodes as [TestRedis, TestRedis, TestRedis, TestRedis, TestRedis];
      for (const node of others) await node.redis.set(key, 'somebody');
      await third.redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE');
      const voting = a.acquire(key, SHORT_LEASE_MS);
      await until('the first has granted', async () => (await first.redis.exists(key)) === 1);
      await goneFrom(first, key);
      await goneFrom(second, key);
      // The next holder has all but the third: there it is unknown which of two comes first.
      for (const node of [first, second, ...others]) await node.redis.set(key, 'the next holder');
      await third.redis.call('CLIENT', 'UNPAUSE');
      const late = await voting;
      expect([late.type, late.reason]).toEqual([type, reason]);
    },
  );
});

test.concurrent.each([
  ['broken/one-acknowledgement', 'ok', undefined],
  ['broken/one-acknowledgement-mended', 'fail', 'not-replicated'],
  ['broken/wait-unchecked', 'ok', undefined],
  ['broken/wait-unchecked-mended', 'fail', 'not-replicated'],
])('%s: one of two replicas is cut off: %s; and then promoted', async (lock, type, reason) => {
  await using primary = await startRedis('r1', ['--repl-diskless-sync-delay', '0']);
  const replicaOf = ['--replicaof', `127.0.0.1 ${primary.endpoint.port}`];
  await using near = await startRedis('r2', replicaOf);
  await using cutOff = await startRedis('r3', replicaOf);
  await primary.redis.set('k:before', '1');
  await until('both replicate', async () => (await primary.redis.wait(2, 100)) === 2);

  // It waits for half of that for acknowledgements, and for no more than a tenth of the lease.
  await using a = await connectedClient(lock, { kind: 'replica', node: primary.endpoint }, { commandTimeoutMs: 6_000 });
  expect((await a.acquire('k', LONG_MS)).type).toBe('ok');
  await cutOff.redis.replicaof('NO', 'ONE');
  const grant = await a.acquire('k:after', LONG_MS);
  expect([grant.type, grant.reason]).toEqual([type, reason]);
  const nearHasIt = type === 'ok' ? 1 : 0;
  await until('the other has heard of it', async () => (await near.redis.exists('k:after')) === nearHasIt);

  await primary.kill();
  await using next = await connectedClient('set-nx-px', { kind: 'replica', node: cutOff.endpoint });
  expect((await next.acquire('k:before')).type).toBe('fail');
  expect((await next.acquire('k:after')).type).toBe('ok');
});
