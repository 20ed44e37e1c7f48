/**
 * The watchdog: renews a lease every third of it for as long as it is not stopped, and tells when it is lost.
 *
 * It promises: no renewal is sent once it was stopped; it says `lost` as soon as a renewal finds that the lock is not ours
 * any more, and no later than when the last lease that was confirmed is over, less what two clocks may differ by. It
 * excludes any help against a pause of its own process: a stopped watchdog renews nothing and reports nothing.
 *
 * Step points: `before-renewal`, each time.
 */
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import { validForMs } from './attempts.js';

export interface Renewable {
  leaseMs: number;
  /** When the grant left this process: the first lease runs from here. */
  grantSentNs: number;
  /** A new lease if the lock is still ours; false: it is not. Throws where it was not done, or cannot tell. */
  renew(): Promise<boolean>;
  /** A renewal that was sent then succeeded. */
  renewed(sentNs: number): void;
}

export interface Watchdog {
  /** Aborts when the lock is lost, with the reason. Never after `stop`. */
  readonly lost: AbortSignal;
  /** The lease was also started anew by something else that was sent then. */
  confirmed(sentNs: number): void;
  stop(): void;
}

export function keepRenewed(access: TopologyAccess, { leaseMs, grantSentNs, renew, renewed }: Renewable): Watchdog {
  const stopped = new AbortController();
  const lost = new AbortController();
  let leaseFromNs = grantSentNs;

  const lose = (reason: string) => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    lost.abort(reason);
  };
  const confirmed = (sentNs: number) => {
    leaseFromNs = Math.max(leaseFromNs, sentNs);
  };

  const renewAgainAndAgain = async () => {
    let nextNs = grantSentNs;
    for (;;) {
      nextNs = Math.max(nextNs + (leaseMs / 3) * 1e6, access.nowNs());
      await access.sleep((nextNs - access.nowNs()) / 1e6, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        await access.step('before-renewal');
        if (stopped.signal.aborted) return;
        const sentNs = access.nowNs();
        if (!(await renew())) return lose('not the owner any more');
        if (stopped.signal.aborted) return;
        confirmed(sentNs);
        renewed(sentNs);
      } catch {
        // Not done, or not known: the next tick tries again, and if none succeeds the lease runs out below. What may have
        // been done is not counted, as nothing confirmed it.
      }
    }
  };

  const watchLease = async () => {
    for (;;) {
      const leftMs = validForMs(access, leaseFromNs, leaseMs);
      if (leftMs <= 0) return lose('no renewal was confirmed within the lease');
      await access.sleep(leftMs, stopped.signal);
      if (stopped.signal.aborted) return;
    }
  };

  void renewAgainAndAgain();
  void watchLease();
  return { lost: lost.signal, confirmed, stop: () => stopped.abort() };
}
