/** Locks granted since a moment, as the run's ledger has them: what a composite fault waits for before it strikes. */
import type { FaultContext } from '../../harness/vocabulary/faults.js';
import type { OpenHold } from '../../harness/vocabulary/verdict.js';
import { Interrupted } from '../levers/basics.js';

/** A hold that has lasted this part of its lease is rarely one of the short ones, and so will last a while longer. */
const SETTLED_PARTS = 0.1;
/** How long to wait for a second settled hold once there is one: two are lost as easily as one, and show more. */
const SECOND_PARTS = 0.06;
const POLL_MS = 25;

/** Whether it has been held long enough to be one of those that last. */
export function isSettled({ grantedNs, releaseSentNs, lostNs }: OpenHold, nowNs: number, leaseMs: number): boolean {
  return releaseSentNs === undefined && lostNs === undefined && nowNs - grantedNs >= SETTLED_PARTS * leaseMs * 1e6;
}

export class GrantWatch implements Disposable {
  private readonly waiting = new Set<(grant: OpenHold) => void>();
  private readonly unsubscribe: () => void;

  /** Watches grants whose granted attempt left the client at `sinceNs` or later. */
  constructor(
    private readonly context: Pick<FaultContext, 'holds' | 'clock' | 'signal' | 'leaseMs'>,
    private readonly sinceNs: number,
  ) {
    this.unsubscribe = context.holds.onGrant((grant) => {
      if (grant.grantSentNs >= sinceNs) for (const take of [...this.waiting]) take(grant);
    });
  }

  /** Grants that are held now, as far as the harness knows, oldest first. */
  held(): OpenHold[] {
    return this.context.holds.open().filter((grant) => this.isHeld(grant));
  }

  /** The next grant; undefined when none comes in time. Rejects with Interrupted when the run (or `signal`) ends. */
  async next(timeoutMs: number, signal: AbortSignal = this.context.signal): Promise<OpenHold | undefined> {
    if (signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
    const done = new AbortController();
    const end = () => done.abort();
    signal.addEventListener('abort', end, { once: true });
    let granted: OpenHold | undefined;
    const take = (grant: OpenHold) => {
      granted ??= grant;
      end();
    };
    this.waiting.add(take);
    await this.context.clock.sleep(timeoutMs, done.signal);
    this.waiting.delete(take);
    signal.removeEventListener('abort', end);
    if (!granted && signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
    return granted;
  }

  /**
   * The good moment to strike: some locks are held that were granted in this time, have been for a while, and `fits`.
   * Resolves with those; with what there is, perhaps nothing, when the time is over. `atOnce`: with the first, because
   * what is found is found for a moment only.
   */
  async settled(
    byNs: number,
    fits: (grant: OpenHold) => Promise<boolean>,
    { signal = this.context.signal, atOnce = false }: { signal?: AbortSignal; atOnce?: boolean } = {},
  ): Promise<OpenHold[]> {
    const { clock, leaseMs } = this.context;
    let firstNs: number | undefined;
    for (;;) {
      const held = this.held();
      const fitting = await Promise.all(held.map(fits));
      const now = clock.nowNs();
      const found = held.filter((grant, at) => fitting[at] && this.held().includes(grant));
      const settled = found.filter((grant) => isSettled(grant, now, leaseMs));
      if (settled.length > 0) firstNs ??= now;
      const waitedEnough = atOnce || (firstNs !== undefined && now - firstNs >= SECOND_PARTS * leaseMs * 1e6);
      if (settled.length > 1 || (settled.length > 0 && waitedEnough)) return settled;
      if (now >= byNs) return found;
      if (signal.aborted) throw new Interrupted('while waiting for a lock to be granted');
      await clock.sleep(POLL_MS, signal);
    }
  }

  [Symbol.dispose](): void {
    this.unsubscribe();
  }

  private isHeld({ grantSentNs, releaseSentNs, lostNs }: OpenHold): boolean {
    return grantSentNs >= this.sinceNs && releaseSentNs === undefined && lostNs === undefined;
  }
}
