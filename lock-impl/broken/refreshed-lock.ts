/**
 * SET NX PX refreshed by a timer, as libraries with an interval of their own have it, which may be far below the lease. Before each
 * refresh the connection is tried, as pools do that lend them: so a release may overtake it. What a refresh that finds nothing
 * then means is what canaries get wrong.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey, prolong, take } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

const REFRESH_EVERY_MS = 5;

export interface RefreshParts {
  /** Whether a refresh that finds nothing asks if the lock has been released meanwhile. */
  heedsTheRelease: boolean;
}

export function refreshedLock(name: string, parts: RefreshParts): LockDefinition {
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
        if (heldKey(access, mine, sentNs, leaseMs).validForMs > 0) {
          return { hold: refreshedHold(access, mine, sentNs, leaseMs, parts) };
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

function refreshedHold(
  access: TopologyAccess,
  mine: OwnedKey,
  grantSentNs: number,
  leaseMs: number,
  { heedsTheRelease }: RefreshParts,
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

  const refreshAgainAndAgain = async () => {
    for (;;) {
      await access.sleep(REFRESH_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      const lent = await answerOf(mine.redis.ping().then(() => true));
      if (lent.is !== 'yes') continue;
      const sentNs = access.nowNs();
      const answer = await answerOf(prolong(mine, leaseMs));
      if (heedsTheRelease && stopped.signal.aborted) return;
      if (answer.is === 'no') return lost.abort('not the owner any more');
      if (answer.is === 'yes') access.renewed(hold, sentNs, leaseMs);
    }
  };

  void refreshAgainAndAgain();
  return hold;
}
