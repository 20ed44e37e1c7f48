/**
 * Canaries whose mistakes were reported of published locks, as in `canaries.test.ts`: each goes wrong in the way that it
 * names, and its twin in the same situation does not.
 */
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import takenOverByClock from '../../lock-impl/broken/taken-over-by-clock.js';
import takenOverByClockMended from '../../lock-impl/broken/taken-over-by-clock-mended.js';
import { canary } from '../support/canary-pairs.js';
import { ownServers, RENEWED_LEASE_MS, SHORT_LEASE_MS } from '../support/file-servers.js';
import type { LockClientProcess } from '../support/lock-client.js';
import { connectedClient } from '../support/lock-client.js';
import { clientHere, now, single } from '../support/locks-here.js';
import { type TestRedis, until } from '../support/redis-server.js';
import { startProxy } from '../support/tcp-proxy.js';

/** Longer than any test. */
const LONG_MS = 60_000;

const mayNot = (server: TestRedis, command: string) => server.redis.call('ACL', 'SETUSER', 'default', `-${command}`);
const may = (server: TestRedis, command: string) => server.redis.call('ACL', 'SETUSER', 'default', `+${command}`);
const wasRefused = (server: TestRedis) =>
  until('a command was refused', async () => /errorstat_NOPERM/.test(await server.redis.info('errorstats')));

describe.concurrent('taken', () => {
  canary(
    'fail-open',
    'the server cannot carry the command out: %s',
    { broken: ['ok'], mended: ['fail'], clients: 1 },
    async ({ a, key, server }, granted) => {
      await mayNot(server, 'set');
      expect((await a.acquire(key)).type).toBe(granted);
    },
  );

  canary(
    'expiry-before-wait',
    'granted after a wait, with a whole lease: %s',
    { broken: [false], mended: [true] },
    async ({ a, b, key, server }, isWhole) => {
      await a.acquire(key, SHORT_LEASE_MS);
      const { type, value } = await b.acquire(key, LONG_MS, LONG_MS);
      const leftMs = await server.redis.pttl(key);
      expect({ type, claims: value.validForMs > LONG_MS - 2_000 }).toEqual({ type: 'ok', claims: true });
      expect(leftMs > LONG_MS - 2_000).toBe(isWhole);
    },
  );

  canary(
    'evalsha-only',
    'the server has forgotten its scripts: %s',
    { broken: ['fail', 'noscript'], mended: ['ok', undefined], clients: 1 },
    async ({ a, key, server }, type, reason) => {
      const { id } = await a.acquire(key);
      expect((await a.release(id)).type).toBe('ok');
      await server.redis.script('FLUSH');
      const again = await a.acquire(key);
      expect([again.type, again.reason]).toEqual([type, reason]);
    },
  );

  test.concurrent.each([
    [takenOverByClock, true],
    [takenOverByClockMended, false],
  ])('$0.name: wanted by a client whose clock is fast: $1', async (lock, granted) => {
    await using own = await ownServers(1);
    await using here = clientHere(own.nodes[0]!);
    const { access } = here;
    const fast = { ...access, wallMs: () => access.wallMs() + 2 * now.leaseMs };
    const clients = [await lock.connect(access), await lock.connect(fast)] as const;
    expect(await clients[0].acquire('k', now)).toMatchObject({ validForMs: expect.any(Number) });
    const taken = clients[1].acquire('k', now).then(
      () => true,
      () => false,
    );
    expect(await taken).toBe(granted);
  });
});

describe.concurrent('let go', () => {
  canary(
    'serialised-owner',
    'released: %s; there is still a key: %s',
    { broken: ['fail', 1], mended: ['ok', 0], clients: 1 },
    async ({ a, key, server }, released, left) => {
      const { id } = await a.acquire(key, LONG_MS);
      expect((await a.release(id)).type).toBe(released);
      expect(await server.redis.exists(key)).toBe(left);
    },
  );

  canary(
    'token-cleared-first',
    'a release fails, and then does not: %s; there is still a key: %s',
    { broken: ['fail', 1], mended: ['ok', 0], clients: 1 },
    async ({ a, key, server }, released, left) => {
      const { id } = await a.acquire(key, LONG_MS);
      await mayNot(server, 'eval');
      const releasing = a.release(id);
      await wasRefused(server);
      await may(server, 'eval');
      expect((await releasing).type).toBe(released);
      expect(await server.redis.exists(key)).toBe(left);
    },
  );

  canary(
    'janitor',
    'another client waits, and a third one comes: %s',
    { broken: ['ok'], mended: ['fail'], clients: 3 },
    async ({ a, b, c, key }, granted) => {
      expect((await a.acquire(key, LONG_MS)).type).toBe('ok');
      expect((await b.acquire(key, LONG_MS)).type).toBe('fail');
      expect((await c.acquire(key, LONG_MS)).type).toBe(granted);
    },
  );

  canary(
    'cancelled-grant',
    'its caller gives up as the lock becomes its own: %s',
    { broken: [1], mended: [0], clients: 1 },
    async ({ a, key, server }, kept) => {
      const left: number[] = [];
      // The command is in the pipe before the word that nobody waits any more; which of them comes first is chance.
      for (let tries = 0; tries < 40; tries++) {
        const asked = a.acquire(`${key}:${tries}`, LONG_MS, 1_000);
        void a.request({ op: 'cancel', acquire: a.nextId - 1 });
        const answer = await asked;
        if (answer.type === 'ok') await a.release(answer.id);
        else left.push(await server.redis.exists(`${key}:${tries}`));
      }
      expect(left.length).toBeGreaterThan(0);
      expect(Math.max(...left)).toBe(kept);
    },
  );

  canary(
    'part-kept',
    'one of two keys is another’s, and the other one is kept: %s',
    { broken: [1], mended: [0], clients: 1 },
    async ({ a, key, server }, kept) => {
      await server.redis.set(`${key}:b`, 'somebody');
      // In either order, by chance: it is refused at once, or after it has got one.
      for (let tries = 0; tries < 20; tries++) expect((await a.acquire(key, LONG_MS)).type).toBe('fail');
      expect(await server.redis.exists(key)).toBe(kept);
    },
  );
});

describe.concurrent('released while it is refreshed', () => {
  canary(
    'refresh-beside-release',
    'its release works; it was told that it had lost it: %s',
    { broken: [true], mended: [false], clients: 1 },
    async ({ a, key, server }, told) => {
      for (let tries = 0; tries < 60; tries++) {
        const { id } = await a.acquire(`${key}:${tries}`, LONG_MS);
        // Answers wait, so that the next refresh is on its way when the release is.
        await server.redis.call('CLIENT', 'PAUSE', 30, 'ALL');
        await setTimeout(15);
        expect((await a.release(id)).type).toBe('ok');
        await server.redis.ping();
      }
      // What is asked after them is answered after them.
      await a.release((await a.acquire(key, LONG_MS)).id);
      expect(a.notices.some(({ type }) => type === 'lost')).toBe(told);
    },
  );
});

describe.concurrent('renewed', () => {
  const LEASE_MS = RENEWED_LEASE_MS;

  /** What becomes first of a hold that is not released. */
  const renewedOrGone = (client: LockClientProcess, hold: number, server: TestRedis, key: string) =>
    until('it is renewed or gone', async () => {
      if (client.notices.some((notice) => notice.type === 'renewed' && notice.hold === hold)) return 'renewed';
      return (await server.redis.exists(key)) === 0 && 'gone';
    });

  canary(
    'renewal-entry-left',
    'locked again after a lock that was lost, and held: %s',
    { broken: ['gone'], mended: ['renewed'], clients: 1 },
    async ({ a, key, server }, fate) => {
      await a.acquire(key, LEASE_MS);
      await server.redis.del(key);
      await a.notice('lost');
      const { id } = await a.acquire(key, LEASE_MS);
      expect(await renewedOrGone(a, id, server, key)).toBe(fate);
    },
  );

  canary(
    'evicted-while-held',
    'held, while another lock is taken: %s',
    { broken: ['gone'], mended: ['renewed'], clients: 1 },
    async ({ a, key, server }, fate) => {
      const { id } = await a.acquire(key, LEASE_MS);
      await a.acquire(`${key}:other`, LEASE_MS);
      expect(await renewedOrGone(a, id, server, key)).toBe(fate);
    },
  );

  canary(
    'renewed-after-giving-up',
    'granted when its caller had given up: %s',
    { broken: ['renewed'], mended: ['gone'], clients: 1, commandTimeoutMs: LONG_MS },
    async ({ a, key, server }, fate) => {
      await server.redis.call('CLIENT', 'PAUSE', LONG_MS, 'WRITE');
      expect(await a.acquire(key, LEASE_MS)).toMatchObject({ type: 'fail', reason: 'no answer in time' });
      await server.redis.config('RESETSTAT');
      await server.redis.call('CLIENT', 'UNPAUSE');
      await until('it is granted', async () => /cmdstat_set:/.test(await server.redis.info('commandstats')));
      const told = await until('it is renewed or gone', async () => {
        if (a.notices.some((notice) => notice.type === 'step' && notice.name === 'before-renewal')) return 'renewed';
        return (await server.redis.exists(key)) === 0 && 'gone';
      });
      expect(told).toBe(fate);
    },
  );

  canary(
    'extend-by-zero',
    'extended, and there is still a key: %s',
    { broken: [0], mended: [1], clients: 1 },
    async ({ a, key, server }, left) => {
      const { id } = await a.acquire(key, LONG_MS);
      expect((await a.extend(id, LONG_MS)).type).toBe('ok');
      expect(await server.redis.exists(key)).toBe(left);
    },
  );

  canary(
    'extend-error-releases',
    'one of five nodes is down: %s; the others still have it: %s',
    { broken: ['fail', 0], mended: ['ok', 1], clients: 1, servers: 5 },
    async ({ a, key, nodes }, extended, left) => {
      const { id } = await a.acquire(key, LONG_MS);
      await nodes[4]!.kill();
      expect((await a.extend(id, LONG_MS)).type).toBe(extended);
      for (const node of nodes.slice(0, 4)) expect(await node.redis.exists(key)).toBe(left);
    },
  );
});

describe.concurrent('waited for', () => {
  canary(
    'first-try-clock',
    'free again after it was waited for longer than its lease: %s',
    { broken: ['fail'], mended: ['ok'] },
    async ({ a, b, key }, granted) => {
      await a.acquire(key, SHORT_LEASE_MS);
      expect((await b.acquire(key, SHORT_LEASE_MS / 4, 3 * SHORT_LEASE_MS)).type).toBe(granted);
    },
  );

  canary(
    'waiter-dropped',
    'two wait, and in the queue there are: %s',
    { broken: [1], mended: [2], clients: 3 },
    async ({ a, b, c, key, server }, queued) => {
      await a.acquire(key, LONG_MS);
      const queue = `{${key}}:queue`;
      const deadlines = `{${key}}:deadlines`;
      const hasQueued = (client: LockClientProcess) =>
        client.notices.some((notice) => notice.type === 'step' && notice.name === 'queued');
      void b.acquire(key, LONG_MS, LONG_MS).catch(() => {}); // it dies waiting
      await until('the first one waits', () => hasQueued(b));
      if (queued === 1)
        await until('the deadline of the first one is over', async () => {
          const [, untilMs] = await server.redis.zrange(deadlines, '0', '0', 'WITHSCORES');
          return untilMs === undefined || Number(untilMs) < Date.now();
        });
      void c.acquire(key, LONG_MS, LONG_MS).catch(() => {});
      await until('the second one waits', () => hasQueued(c));
      expect(await server.redis.llen(queue)).toBe(queued);
    },
  );
});

describe.concurrent('shared', () => {
  const read = (client: LockClientProcess, key: string, leaseMs: number) =>
    client.request({ op: 'acquire', key, leaseMs, waitMs: 0, mode: 'read' });

  canary(
    'renews-dead-readers',
    'one of two readers dies: %s',
    { broken: ['renewed'], mended: ['gone'] },
    async ({ a, b, key, server }, fate) => {
      const leases = `{${key}}:leases`;
      await read(a, key, RENEWED_LEASE_MS);
      const [dead] = await server.redis.zrange(leases, '0', '0');
      await read(b, key, RENEWED_LEASE_MS);
      await a[Symbol.asyncDispose]();
      const endsMs = Number(await server.redis.zscore(leases, dead!));
      const told = await until('its hold is renewed or gone', async () => {
        const nowEndsMs = await server.redis.zscore(leases, dead!);
        return nowEndsMs === null ? 'gone' : Number(nowEndsMs) > endsMs && 'renewed';
      });
      expect(told).toBe(fate);
    },
  );

  canary(
    'short-reader-shortens',
    'a reader with a short lease comes after one with a long one, which has the whole of its own: %s',
    { broken: [false], mended: [true] },
    async ({ a, b, key, server }, isWhole) => {
      await read(a, key, 4 * LONG_MS);
      await read(b, key, SHORT_LEASE_MS);
      expect((await server.redis.pttl(`{${key}}:readers`)) > SHORT_LEASE_MS).toBe(isWhole);
    },
  );

  canary(
    'first-reader-expires',
    'a reader with a long lease comes after one with a short one, and has the whole of its own: %s',
    { broken: [false], mended: [true] },
    async ({ a, b, key, server }, isWhole) => {
      await read(a, key, 4 * SHORT_LEASE_MS);
      await read(b, key, 4 * LONG_MS);
      expect((await server.redis.pttl(`{${key}}:readers`)) > 4 * SHORT_LEASE_MS).toBe(isWhole);
    },
  );

  canary(
    'permits-expire-together',
    'the lease of the first of two is over, and then there are two more: %s',
    { broken: ['ok'], mended: ['fail'], clients: 3 },
    async ({ a, b, c, key }, second) => {
      await a.acquire(key, SHORT_LEASE_MS);
      expect((await b.acquire(key, LONG_MS)).type).toBe('ok');
      expect((await c.acquire(key, LONG_MS, LONG_MS)).type).toBe('ok');
      expect((await c.acquire(key, LONG_MS)).type).toBe(second);
    },
  );

  test.concurrent.each([
    ['broken/return-sent-again', 'ok'],
    ['broken/return-sent-again-mended', 'fail'],
  ])('%s: a return is not answered, and sent again; a third holder: %s', async (lock, third) => {
    await using own = await ownServers(1);
    const server = own.nodes[0]!;
    await using proxy = await startProxy(server.endpoint);
    await using a = await connectedClient(lock, { kind: 'single', node: proxy.endpoint });
    await using b = await connectedClient(lock, single(server));
    const { id } = await a.acquire('k', LONG_MS);
    await server.redis.config('RESETSTAT');
    proxy.mode = 'no-replies';
    const releasing = a.release(id);
    await until('the return is carried out', async () =>
      /cmdstat_eval:calls=1,/.test(await server.redis.info('commandstats')),
    );
    proxy.mode = 'pass';
    proxy.closeAll();
    await releasing;
    const outcomes = [await b.acquire('k', LONG_MS), await b.acquire('k', LONG_MS), await b.acquire('k', LONG_MS)];
    expect(outcomes.map(({ type }) => type)).toEqual(['ok', 'ok', third]);
  });

  test.concurrent.each([
    ['broken/resent-del', 'del', 'ok'],
    ['broken/resent-del-mended', 'eval', 'fail'],
  ])(
    '%s: its release (%s) is not answered, another takes it, and it is sent again; a third: %s',
    async (lock, sent, third) => {
      await using own = await ownServers(1);
      const server = own.nodes[0]!;
      await using proxy = await startProxy(server.endpoint);
      await using a = await connectedClient(lock, { kind: 'single', node: proxy.endpoint });
      await using b = await connectedClient(lock, single(server));
      const { id } = await a.acquire('k', LONG_MS);
      await server.redis.config('RESETSTAT');
      const carriedOut = (times: number) =>
        until(`it is carried out, ${times}`, async () =>
          new RegExp(`cmdstat_${sent}:calls=${times},`).test(await server.redis.info('commandstats')),
        );
      proxy.mode = 'no-replies';
      const releasing = a.release(id);
      await carriedOut(1);
      expect((await b.acquire('k', LONG_MS)).type).toBe('ok');
      proxy.mode = 'pass';
      proxy.closeAll();
      await carriedOut(2);
      expect((await releasing).type).toBe('info');
      expect((await b.acquire('k', LONG_MS)).type).toBe(third);
    },
  );
});
