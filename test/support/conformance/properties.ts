/**
 * What a lock must do while nothing fails, as far as it claims it: one check for each property, the same on every topology.
 * A check drives client processes as the harness does, and rejects where the lock does not do what it claims.
 *
 * It excludes whatever needs a fault of the servers or the network. Clients die and are stopped, for what a lock promises
 * about its lease means nothing otherwise.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LockMode, LockModel } from '../../../harness/vocabulary/protocol.js';
import type { Lack } from '../../../lock-impl/builtin-lock.js';
import type { Answer, LockClientProcess } from '../lock-client.js';

/** What a lock says of itself, in its definition and in the registry. */
export interface Claims {
  features: readonly string[];
  model: LockModel;
  lacks: readonly Lack[];
}

/** What a check works with. */
export interface Bench extends Claims {
  /** The `n`th client of this lock, from 0, connected. */
  client(n: number): Promise<LockClientProcess>;
  /** One for this test alone, to be killed. */
  ownClient(): Promise<LockClientProcess>;
  key: string;
  /** How many may hold at once: 1 but for a semaphore. */
  permits: number;
}

export interface Property {
  claimedBy(claims: Claims): boolean;
  check(bench: Bench): Promise<void>;
}

/** No other client comes near it. */
const LONG_MS = 30_000;
const WAIT_MS = 10_000;
/** Soon over; long enough for a busy machine to get a command through, and a renewal, which has a third of it. */
const SHORT_MS = 600;
/** Who renews every third of it is late only where the machine did not run it for two seconds. */
const RENEWED_MS = 4_500;

/** A try, on a busy machine. */
const REFUSED_WITHIN_MS = 300;

const expires = ({ lacks }: Claims) => !lacks.includes('expiry');

export const properties: Record<string, Property> = {
  'excludes others until it is released': {
    claimedBy: () => true,
    async check({ client, key, permits }) {
      const [a, b] = [await client(0), await client(1)];
      const [held, ...others] = await allGranted(a, permits, key);
      await refused(b, key);
      await released(a, held!);
      const next = await granted(b, key);
      await refused(a, key);
      for (const other of others) await released(a, other);
      await released(b, next);
    },
  },
  'a waiter gets it after the release': {
    claimedBy: () => true,
    async check({ client, key, permits }) {
      const [a, b] = [await client(0), await client(1)];
      const [held] = await allGranted(a, permits, key);
      const waiting = granted(b, key);
      waiting.catch(ignore); // not before it is awaited
      // The waiter has been refused by then, at least once; libraries that ignore the wait still try.
      await sleep(REFUSED_WITHIN_MS);
      const release = await released(a, held!);
      const got = await waiting;
      assert.ok(got.ended! > release.began!, 'the waiter was granted while the lock was held');
      await released(b, got);
    },
  },
  'a waiter is refused when its wait is over': {
    claimedBy: () => true,
    async check({ client, key, permits }) {
      const [a, b] = [await client(0), await client(1)];
      await allGranted(a, permits, key);
      const answer = await refused(b, key, LONG_MS, 300);
      // Timers count whole milliseconds.
      assert.ok(answer.ended! - answer.began! >= 298e6, 'it gave up before its wait was over');
    },
  },
  'a holder that died frees it within its lease': {
    claimedBy: expires,
    async check({ client, ownClient, key, permits }) {
      const [a, b] = [await ownClient(), await client(1)];
      await allGranted(a, permits, key, SHORT_MS);
      await a[Symbol.asyncDispose]();
      const got = await granted(b, key);
      assert.ok(got.ended! - got.began! < (SHORT_MS + 5_000) * 1e6, 'it took far longer than the lease');
      await released(b, got);
    },
  },
  'a holder that outlived its lease does not release for the next': {
    claimedBy: (claims) => expires(claims) && !claims.lacks.includes('ownership'),
    async check({ client, ownClient, key, permits, lacks }) {
      const [a, b, c] = [await ownClient(), await client(1), await client(2)];
      const lost = await allGranted(a, permits, key, SHORT_MS);
      a.process.kill('SIGSTOP');
      const held = await granted(b, key);
      const others = await allGranted(b, permits - 1, key);
      a.process.kill('SIGCONT');
      const told = [];
      for (const { id } of lost) told.push((await a.release(id)).type);
      await refused(c, key);
      for (const hold of [held, ...others]) await released(b, hold);
      if (!lacks.includes('late-release'))
        assert.ok(!told.includes('ok'), 'the late release was told that all was well');
    },
  },
  'is renewed for as long as it is held': {
    claimedBy: ({ features }) => features.includes('renews'),
    async check({ client, key, permits }) {
      const [a, b] = [await client(0), await client(1)];
      const holds = await allGranted(a, permits, key, RENEWED_MS);
      const watchedUntil = performance.now() + 1.5 * RENEWED_MS;
      // Some libraries give up before their wait is over. And where the lease of who asks decides what has run out, it
      // has to be the holder's.
      while (performance.now() < watchedUntil) await refused(b, key, RENEWED_MS, watchedUntil - performance.now());
      for (const held of holds) {
        const renewed = a.notices.some((notice) => notice.type === 'renewed' && notice.hold === held.id);
        assert.ok(renewed, 'it did not say that it was renewed');
        await released(a, held);
      }
    },
  },
  'an extension starts a new lease': {
    claimedBy: ({ features }) => features.includes('extend'),
    async check({ client, key, permits }) {
      const [a, b] = [await client(0), await client(1)];
      const holds = await allGranted(a, permits, key, 5 * SHORT_MS);
      for (const { id } of holds) mustBe(await a.extend(id, LONG_MS), 'ok', 'it was not extended');
      await refused(b, key, SHORT_MS, 6 * SHORT_MS);
      for (const held of holds) await released(a, held);
    },
  },
  'its owner may take it again': {
    claimedBy: ({ features, model }) => model.kind === 'reentrant' || features.includes('reentrant'),
    async check({ client, key, model }) {
      const [a, b] = [await client(0), await client(1)];
      const depth = model.kind === 'reentrant' ? model.depth : 2;
      const holds: Answer[] = [];
      for (let n = 0; n < depth; n++) holds.push(await granted(a, key));
      for (const hold of holds.reverse()) {
        await refused(b, key);
        await released(a, hold);
      }
      await released(b, await granted(b, key));
    },
  },
  'is granted in the order in which clients queued': {
    claimedBy: ({ model }) => model.kind === 'fair',
    async check({ client, key }) {
      const holder = await client(0);
      const held = await granted(holder, key);
      const order: number[] = [];
      const waiting: Promise<void>[] = [];
      for (const n of [1, 2, 3]) {
        const waiter = await client(n);
        const before = queuedBy(waiter);
        const turn = granted(waiter, key).then(async (got) => {
          order.push(n);
          await released(waiter, got);
        });
        turn.catch(ignore);
        waiting.push(turn);
        await Promise.race([turn, until(() => queuedBy(waiter) > before)]);
      }
      await released(holder, held);
      await Promise.all(waiting);
      assert.equal(order.join(), '1,2,3', `the first, second and third to queue were granted as ${order.join()}`);
    },
  },
  'no more clients hold it than there are permits': {
    claimedBy: ({ model }) => model.kind === 'semaphore',
    async check({ client, key, permits }) {
      const holds: Answer[] = [];
      for (let n = 0; n < permits; n++) holds.push(await granted(await client(n), key));
      const last = await client(permits);
      await refused(last, key);
      await released(await client(0), holds[0]!);
      holds[0] = await granted(last, key);
      await refused(await client(0), key);
      for (const [n, hold] of holds.entries()) await released(await client(n === 0 ? permits : n), hold);
    },
  },
  'readers share it, a writer does not': {
    claimedBy: ({ features, model }) => model.kind === 'read-write' || features.includes('shared'),
    async check({ client, key }) {
      const [a, b, c] = [await client(0), await client(1), await client(2)];
      const [one, other] = [
        await granted(a, key, LONG_MS, WAIT_MS, 'read'),
        await granted(b, key, LONG_MS, WAIT_MS, 'read'),
      ];
      await refused(c, key, LONG_MS, 0, 'write');
      await released(a, one);
      await refused(c, key, LONG_MS, 0, 'write');
      await released(b, other);
      const write = await granted(c, key, LONG_MS, WAIT_MS, 'write');
      await refused(a, key, LONG_MS, 0, 'read');
      await released(c, write);
      await released(a, await granted(a, key, LONG_MS, WAIT_MS, 'read'));
    },
  },
  'its tokens rise': {
    claimedBy: ({ features, model }) => model.kind === 'fenced' || features.includes('fencing'),
    async check({ client, key }) {
      const tokens: number[] = [];
      for (const n of [0, 1, 0, 0, 1]) {
        const held = await granted(await client(n), key);
        tokens.push(held.value.token);
        await released(await client(n), held);
      }
      for (const [at, token] of tokens.entries()) {
        assert.ok(Number.isSafeInteger(token), `a token is ${token}`);
        assert.ok(at === 0 || token > tokens[at - 1]!, `the tokens were ${tokens.join(', ')}`);
      }
    },
  },
};

/** The outcome of an operation is not known (`info`): what was to be checked is open. */
export class Untold extends Error {}

function mustBe(answer: Answer, wanted: 'ok' | 'fail', otherwise: string): void {
  if (answer.type === wanted) return;
  const message = `${otherwise}: ${answer.type}, ${answer.reason ?? 'without a reason'}`;
  throw answer.type === 'info' ? new Untold(message) : new Error(message);
}

/** With a wait: a busy machine may need a second try even for a lock that is free. */
async function granted(client: LockClientProcess, key: string, leaseMs = LONG_MS, waitMs = WAIT_MS, mode?: LockMode) {
  const answer = await client.request({ op: 'acquire', key, leaseMs, waitMs, ...(mode && { mode }) });
  mustBe(answer, 'ok', 'it was not granted');
  return answer;
}

async function refused(client: LockClientProcess, key: string, leaseMs = LONG_MS, waitMs = 0, mode?: LockMode) {
  const answer = await client.request({ op: 'acquire', key, leaseMs, waitMs, ...(mode && { mode }) });
  mustBe(answer, 'fail', 'it was not refused');
  return answer;
}

async function released(client: LockClientProcess, { id }: Answer) {
  const answer = await client.release(id);
  mustBe(answer, 'ok', 'it was not released');
  return answer;
}

/** As often as there are permits, so that no other client can get one. */
async function allGranted(client: LockClientProcess, permits: number, key: string, leaseMs?: number) {
  const holds: Answer[] = [];
  for (let n = 0; n < permits; n++) holds.push(await granted(client, key, leaseMs));
  return holds;
}

function queuedBy(client: LockClientProcess): number {
  return client.notices.filter((notice) => notice.type === 'step' && notice.name === 'queued').length;
}

function ignore(): void {}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}
