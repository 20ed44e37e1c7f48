/**
 * A reentrant lock as applications write it: a hash, owner → count, that expires, with a client for an owner. What counts, and
 * where, is what canaries get wrong; with `serverCounts` it is right, and promises what `reentrant` does without its wake-ups.
 *
 * Step points: `before-renewal`, each time (where it renews at all).
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOrRefusal } from '../owned-key.js';
import { keepRenewed, type Watchdog } from '../renewal.js';
import { reentrantGiveBack } from '../scripts/reentrant-give-back.js';
import { renewIfOwner } from '../scripts/renew-if-owner.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';
import { takeCounted } from './take-counted.js';

export interface Counts {
  /** How often the owner now holds it; 0: another does. */
  take(owner: string, leaseMs: number): Promise<number>;
  /** How often the owner still holds it; null: it did not hold it. */
  giveBack(owner: string, leaseMs: number): Promise<number | null>;
}

export interface CountedParts {
  counts(redis: Redis, key: string): Counts;
  /** Renewed from the first hold until an unlock finds that none is left; else it ends with its lease. */
  renewed: boolean;
}

/** The server counts, in what expires with the lock. */
export function serverCounts(redis: Redis, key: string): Counts {
  return {
    take: async (owner, leaseMs) => Number(await redis.eval(takeCounted, 1, key, owner, leaseMs)),
    giveBack: (owner, leaseMs) => redis.eval(reentrantGiveBack, 1, key, owner, leaseMs, '') as Promise<number | null>,
  };
}

export function countedLock(name: string, parts: CountedParts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: parts.renewed ? ['renews', 'reentrant'] : ['reentrant'],
    model: { kind: 'reentrant', depth: 4 },
    async connect(access) {
      const redis = await access.redis();
      const owner = access.randomValue();
      const locks = new Map<string, CountedLock>();
      const lockOf = (key: string) => {
        const lock = locks.get(key) ?? new CountedLock(access, redis, key, owner, parts);
        locks.set(key, lock);
        return lock;
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => lockOf(key).attempt(options.leaseMs)),
      };
    },
  });
}

class CountedLock {
  readonly #counts: Counts;
  #owner: string;
  #renames = 0;
  /** The server may count holds that we do not, or a command to count less may still arrive. */
  #leftBehind = false;
  #holds: LockHold[] = [];
  #watchdog: Watchdog | undefined;
  readonly #losses = new WeakMap<LockHold, AbortController>();

  constructor(
    private readonly access: TopologyAccess,
    private readonly redis: Redis,
    private readonly key: string,
    private readonly client: string,
    private readonly parts: CountedParts,
  ) {
    this.#counts = parts.counts(redis, key);
    this.#owner = client;
  }

  async attempt(leaseMs: number): Promise<Attempt> {
    const { access } = this;
    if (this.#leftBehind && this.#holds.length === 0) this.#rename();
    const sentNs = access.nowNs();
    const result = await this.#watched(answerOrRefusal(this.#counts.take(this.#owner, leaseMs)));
    if ('refusedBecause' in result) return result;
    if (result.answer === 0) return { refusedBecause: 'held' };
    // The first hold on the server: whatever we believed to hold is gone.
    if (result.answer === 1) this.#lose('not the owner any more');

    const validMs = validForMs(access, sentNs, leaseMs);
    const hold: LockHold = { grantSentNs: sentNs, release: () => this.#release(hold, leaseMs) };
    this.#holds.push(hold);
    if (validMs <= 0) {
      await this.#release(hold, leaseMs).catch(() => {}); // it ends with its lease
      return { refusedBecause: 'granted-late' };
    }
    if (!this.parts.renewed) return { hold: Object.assign(hold, { validForMs: validMs }) };
    if (this.#watchdog) this.#watchdog.confirmed(sentNs);
    else this.#startWatchdog(sentNs, leaseMs);
    const lost = new AbortController();
    this.#losses.set(hold, lost);
    return { hold: Object.assign(hold, { lost: lost.signal }) };
  }

  async #release(hold: LockHold, leaseMs: number): Promise<boolean> {
    // Lost, and perhaps locked again since: what the server counts is a later hold's.
    if (!this.#holds.includes(hold)) return false;
    this.#holds = this.#holds.filter((other) => other !== hold);
    const left = await this.#watched(certainOrDoubtful(this.#counts.giveBack(this.#owner, leaseMs)));
    if (left === null) this.#lose('not the owner any more');
    if (left === 0) this.#stopRenewing();
    return left !== null;
  }

  /** After a failure, what was left behind ends with its lease. */
  async #watched<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.#leftBehind = true;
      throw error;
    } finally {
      if (this.#leftBehind && this.#holds.length === 0) this.#stopRenewing();
    }
  }

  /** Who holds nothing then locks under a new name. */
  #rename(): void {
    this.#leftBehind = false;
    this.#renames += 1;
    this.#owner = `${this.client}:${this.#renames}`;
  }

  #stopRenewing(): void {
    this.#watchdog?.stop();
    this.#watchdog = undefined;
  }

  #lose(reason: string): void {
    this.#stopRenewing();
    const lost = this.#holds;
    this.#holds = [];
    for (const hold of lost) this.#losses.get(hold)?.abort(reason);
  }

  #startWatchdog(grantSentNs: number, leaseMs: number): void {
    const { access, redis, key } = this;
    const owner = this.#owner;
    const watchdog = keepRenewed(access, {
      leaseMs,
      grantSentNs,
      renew: async () => (await redis.eval(renewIfOwner, 1, key, owner, leaseMs)) === 1,
      renewed: (sentNs) => {
        for (const hold of this.#holds) if (hold.grantSentNs! <= sentNs) access.renewed(hold, sentNs, leaseMs);
      },
    });
    this.#watchdog = watchdog;
    const lost = () => {
      this.#leftBehind = true; // perhaps there all the same: it could not be asked in time
      this.#lose(String(watchdog.lost.reason));
    };
    watchdog.lost.addEventListener('abort', lost, { once: true });
  }
}
