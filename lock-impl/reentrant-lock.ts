/**
 * A lock that its owner may take again, as an application uses it: one object for one lock and one caller, with the usual
 * forms of taking it. What the server keeps, and how, is said by its `Protocol`; it makes the lock reentrant, fair, a
 * reader's or a writer's.
 *
 * It promises: every grant is given back with its own `unlock`; a lock without a lease of its own is renewed until its last
 * `unlock` (see `renewal.ts`); a nested lock never makes a lease shorter; only the owner unlocks. An operation throws
 * a refusal where it certainly did not happen, a `NotOwnerError` where the lock was not ours, anything else where it cannot
 * tell. It excludes fencing, and every promise beyond the life of what one server remembers.
 *
 * The owner is the client, by an id of its own, and the caller within it, as a thread is in other languages; a caller
 * does one thing at a time. After a lock of unknown outcome, or an unlock that failed, the server may count more holds than
 * we do, or carry the unlock out later. So who holds nothing then locks under a new name, and what was left behind ends with
 * its lease. (`unlock` can be tried again until then.)
 *
 * Step points: `queued`, where a queue took us in; `granted`; `before-renewal`.
 */
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import { certainOrDoubtful, type Pause, randomPauseMs, validForMs, whyNotDone } from './attempts.js';
import { refused } from './define-lock.js';
import { keepRenewed, type Watchdog } from './renewal.js';
import type { Waiting } from './waiting.js';

/** What one kind of lock asks of its server. */
export interface Protocol {
  /** One try. `waitsMs`: for how long a client that is refused counts as waiting; 0: it does not wait. */
  take(owner: string, leaseMs: number, waitsMs: number): Promise<TakeResult>;
  /** How often the owner still holds it, with this lease at least; null: it did not hold it. */
  giveBack(owner: string, leaseMs: number): Promise<number | null>;
  /** False: it does not hold it. */
  renew(owner: string, leaseMs: number): Promise<boolean>;
  /** Waits no longer. Only where `take` says `queued`. */
  leave?(owner: string): Promise<void>;
  /** A refused one is to try again before this part of the lease is over, to be taken for alive; absent: no need. */
  comesBackWithin?: number;
  waiting(owner: string): Waiting;
  holders(): Promise<number>;
  holdCount(owner: string): Promise<number>;
  forceUnlock(): Promise<boolean>;
}

export type TakeResult =
  | { granted: true; depth: number }
  /** `againInMs`: when it is worth trying again, Infinity where that is unknown; `queued`: the queue took us in just now. */
  | { granted: false; why: string; againInMs: number; queued?: boolean };

/** One of possibly several holds of the owner. */
export interface OwnerHold {
  readonly sentNs: number;
  readonly leaseMs: number;
  /** Renewed by the watchdog, which counts `leaseMs` anew each time. */
  readonly watched: boolean;
  /** Aborts when the lock is found to be lost. */
  readonly lost: AbortSignal;
}

export interface Wanted {
  leaseMs: number;
  watched: boolean;
  waitMs: number;
  signal?: AbortSignal;
}

export interface ReentrantLockOptions {
  access: TopologyAccess;
  protocol: Protocol;
  /** The client by an id of its own, and the caller within it. */
  owner: string;
  /** The lease of locks without one of their own, which are renewed every third of it. */
  watchdogMs: number;
  /** The leases of these grants were started anew by something that was sent then. */
  onRenewed?(grants: readonly OwnerHold[], sentNs: number, leaseMs: number): void;
}

/** An unlock of a lock that is not the owner's (any more). */
export class NotOwnerError extends Error {
  override readonly name = 'NotOwnerError';
}

const AFTER_FAILURE: Pause = { minMs: 10, maxMs: 30 };

export class ReentrantLock {
  readonly #options: ReentrantLockOptions;
  #owner: string;
  /** The server may count holds that we do not, or a command to count less may still arrive: see above. */
  #leftBehind = false;
  #renames = 0;
  /** The innermost last. */
  #grants: OwnerHold[] = [];
  /** Of each hold its own: one that was given back is not lost any more, whatever becomes of later ones. */
  readonly #losses = new WeakMap<OwnerHold, AbortController>();
  #watchdog: Watchdog | undefined;

  constructor(options: ReentrantLockOptions) {
    this.#options = options;
    this.#owner = options.owner;
  }

  /** Waits for it as long as it takes. With `leaseMs` it ends by itself after that, else it is renewed until `unlock`. */
  async lock(leaseMs?: number): Promise<void> {
    await this.acquire({ ...this.#lease(leaseMs), waitMs: Number.POSITIVE_INFINITY });
  }

  /** Whether it was granted within `waitMs`; 0: one try. `leaseMs` as for `lock`. */
  async tryLock(waitMs = 0, leaseMs?: number): Promise<boolean> {
    try {
      await this.acquire({ ...this.#lease(leaseMs), waitMs });
      return true;
    } catch (error) {
      if (error instanceof NotGrantedError) return false;
      throw error;
    }
  }

  /** Gives the innermost hold back. */
  async unlock(): Promise<void> {
    const innermost = this.#grants.at(-1);
    // One that we know nothing of may be there all the same, left behind by an unlock that failed.
    const mine = innermost ? await this.release(innermost) : (await this.#giveBack(this.#options.watchdogMs)) !== null;
    if (!mine) throw new NotOwnerError('unlock: the lock is not held by its caller');
  }

  /** Whether anybody holds it. */
  async isHeld(): Promise<boolean> {
    return (await certainOrDoubtful(this.#options.protocol.holders())) > 0;
  }

  async isHeldByMe(): Promise<boolean> {
    return (await this.holdCount()) > 0;
  }

  /** How often the caller holds it, as the server has it. */
  holdCount(): Promise<number> {
    return certainOrDoubtful(this.#options.protocol.holdCount(this.#owner));
  }

  /** Frees it for any holder. Resolves with whether it was held. */
  forceUnlock(): Promise<boolean> {
    return certainOrDoubtful(this.#options.protocol.forceUnlock());
  }

  /** What the forms above are made of: throws a refusal if it was not granted within the wait. */
  async acquire(wanted: Wanted): Promise<OwnerHold> {
    const { access, protocol } = this.#options;
    const giveUpNs = access.nowNs() + wanted.waitMs * 1e6;
    if (this.#leftBehind && this.#grants.length === 0) this.#rename();
    const owner = this.#owner;
    let waiting: Waiting | undefined;
    let queued = false;
    try {
      for (;;) {
        const taken = await this.#try(wanted);
        if (taken.granted) {
          await access.step('granted');
          return taken.grant;
        }
        queued ||= taken.queued === true;
        if (taken.queued) await access.step('queued');
        const leftMs = (giveUpNs - access.nowNs()) / 1e6;
        if (leftMs <= 0 || wanted.signal?.aborted) {
          if (queued) await protocol.leave?.(owner).catch(() => {}); // its deadline takes it out
          throw refusal(taken.why);
        }
        waiting ??= protocol.waiting(owner);
        const comesBackMs = wanted.leaseMs * (protocol.comesBackWithin ?? Number.POSITIVE_INFINITY);
        await waiting.pause(Math.min(leftMs, taken.againInMs, comesBackMs), wanted.signal);
      }
    } finally {
      waiting?.stop();
    }
  }

  /** Gives this hold back; false: it was not ours any more. */
  async release(grant: OwnerHold): Promise<boolean> {
    const known = this.#grants.includes(grant);
    // Lost, and locked again since: what the server counts is the later hold's.
    if (!known && this.#grants.length > 0) return false;
    this.#grants = this.#grants.filter((other) => other !== grant);
    if (!this.#grants.some(({ watched }) => watched)) this.#stopWatchdog();
    const left = this.#grants.at(-1);
    const leaseMs = left?.leaseMs ?? grant.leaseMs;
    const sentNs = this.#options.access.nowNs();
    const depth = await this.#giveBack(leaseMs);
    if (depth === null) {
      this.#lose('not the owner any more');
      return false;
    }
    if (left) this.#renewed(sentNs, leaseMs);
    return true;
  }

  /** How often the server still has us as the owner; null: it did not. */
  async #giveBack(leaseMs: number): Promise<number | null> {
    try {
      return await certainOrDoubtful(this.#options.protocol.giveBack(this.#owner, leaseMs));
    } catch (error) {
      this.#leftBehind = true;
      throw error;
    }
  }

  #lease(leaseMs: number | undefined): Pick<Wanted, 'leaseMs' | 'watched'> {
    return { leaseMs: leaseMs ?? this.#options.watchdogMs, watched: leaseMs === undefined };
  }

  async #try(wanted: Wanted): Promise<{ granted: true; grant: OwnerHold } | Extract<TakeResult, { granted: false }>> {
    const { access, protocol } = this.#options;
    const { leaseMs, watched } = wanted;
    const sentNs = access.nowNs();
    let taken: TakeResult;
    try {
      taken = await protocol.take(this.#owner, leaseMs, wanted.waitMs > 0 ? leaseMs : 0);
    } catch (error) {
      const why = whyNotDone(error);
      if (why === undefined) {
        this.#leftBehind = true;
        throw error;
      }
      return { granted: false, why, againInMs: randomPauseMs(access, AFTER_FAILURE) };
    }
    if (!taken.granted) return taken;
    // The first hold on the server: whatever we believed to hold is gone.
    if (taken.depth === 1) this.#lose('not the owner any more');
    const lost = new AbortController();
    const grant: OwnerHold = { sentNs, leaseMs, watched, lost: lost.signal };
    this.#losses.set(grant, lost);
    this.#grants.push(grant);
    if (validForMs(access, sentNs, leaseMs) <= 0) {
      // Useless to the caller, so it is given back. If that fails the lease ends by itself.
      await this.release(grant).catch(() => {});
      return { granted: false, why: 'granted-late', againInMs: 0 };
    }
    this.#renewed(sentNs, leaseMs, grant);
    if (watched && !this.#watchdog) this.#startWatchdog(sentNs);
    return { granted: true, grant };
  }

  #startWatchdog(grantSentNs: number): void {
    const { access, protocol } = this.#options;
    const owner = this.#owner;
    const leaseMs = this.#grants.at(-1)!.leaseMs;
    const watchdog = keepRenewed(access, {
      leaseMs,
      grantSentNs,
      renew: () => protocol.renew(owner, leaseMs),
      renewed: (sentNs) => this.#renewed(sentNs, leaseMs),
    });
    this.#watchdog = watchdog;
    watchdog.lost.addEventListener('abort', () => this.#lose(String(watchdog.lost.reason)), { once: true });
  }

  #stopWatchdog(): void {
    this.#watchdog?.stop();
    this.#watchdog = undefined;
  }

  #lose(reason: string): void {
    this.#stopWatchdog();
    const lost = this.#grants;
    this.#grants = [];
    for (const grant of lost) this.#losses.get(grant)!.abort(reason);
  }

  /** All holds of the owner share one expiry. `grant`: the one that did it, which knows already. */
  #renewed(sentNs: number, leaseMs: number, grant?: OwnerHold): void {
    // What was asked for later has a later lease already: a nested lock may be granted before the answer to a renewal is told.
    const earlier = (other: OwnerHold) => other.sentNs <= sentNs && other.leaseMs <= leaseMs;
    const others = this.#grants.filter((other) => other !== grant && earlier(other));
    if (others.some(({ watched }) => watched)) this.#watchdog?.confirmed(sentNs);
    if (others.length > 0) this.#options.onRenewed?.(others, sentNs, leaseMs);
  }

  #rename(): void {
    this.#leftBehind = false;
    this.#renames += 1;
    this.#owner = `${this.#options.owner}:${this.#renames}`;
  }
}

/** What `tryLock` says by `false`. */
class NotGrantedError extends Error {}

/** Not because of a failure. */
const NOT_GRANTED = ['held', 'queued-behind', 'granted-late'];

function refusal(why: string): Error {
  const refusal = refused(why);
  return NOT_GRANTED.includes(why) ? Object.assign(new NotGrantedError(refusal.message), refusal) : refusal;
}
