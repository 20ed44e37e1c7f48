/**
 * SET NX PX renewed by a background loop, as applications write it: every third of the lease until the release, from the
 * parts that canaries get wrong.
 *
 * Without an eye on the clock, which `renewal.ts` has, a client whose renewals do not come through, or that was paused for
 * longer than its lease, believes to hold until one is answered. What that renewal then does makes the difference.
 *
 * Step points: `before-renewal`, each time.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey, take } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';
import { renewingHold } from '../watchdog.js';

export interface RenewalParts {
  /** True if the lock is ours for `leaseMs` from now; false: it is not any more. */
  renew(mine: OwnedKey, leaseMs: number): Promise<boolean>;
  /** What comes after a renewal that was not done, or not answered. */
  afterFailure: 'try-again' | 'end';
}

/** Without `parts` it is renewed as it should be, by `watchdog`. */
export function renewedLock(name: string, parts?: RenewalParts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: access.randomValue() };
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(take(mine, leaseMs));
        if ('refusedBecause' in result) return result;
        if (!result.answer) return { refusedBecause: 'held' };
        const held = heldKey(access, mine, sentNs, leaseMs);
        if (held.validForMs > 0) {
          const hold = parts ? renewedHold(access, mine, sentNs, leaseMs, parts) : renewingHold(access, held, leaseMs);
          return { hold };
        }
        await answerOf(giveBack(mine));
        return { refusedBecause: 'granted-late' };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

function renewedHold(
  access: TopologyAccess,
  mine: OwnedKey,
  grantSentNs: number,
  leaseMs: number,
  { renew, afterFailure }: RenewalParts,
): LockHold {
  const stopped = new AbortController();
  const lost = new AbortController();
  const { release } = heldKey(access, mine, grantSentNs, leaseMs);
  const hold: LockHold = {
    grantSentNs,
    lost: lost.signal,
    release() {
      stopped.abort();
      return release();
    },
  };

  const renewAgainAndAgain = async () => {
    for (;;) {
      await access.sleep(leaseMs / 3, stopped.signal);
      if (stopped.signal.aborted) return;
      await access.step('before-renewal');
      if (stopped.signal.aborted) return;
      const sentNs = access.nowNs();
      const answer = await answerOf(renew(mine, leaseMs));
      if (stopped.signal.aborted) return;
      if (answer.is === 'yes') access.renewed(hold, sentNs, leaseMs);
      else if (answer.is === 'no') return lost.abort('not the owner any more');
      else if (afterFailure === 'end') return;
    }
  };

  void renewAgainAndAgain();
  return hold;
}
