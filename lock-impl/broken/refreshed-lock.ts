/**
 * SET NX PX refreshed by a timer, as libraries with an interval of their own have it, which may be far below the lease. Before each
 * refresh the connection is tried, as pools do that lend them: so a release may overtake it. What a refresh that finds nothing
 * then means is what canaries get wrong.
 */
import type { Redis } from 'ioredis';
import type { LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf } from '../owned-key.js';
import { attempt, PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

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
      return {
        async acquire(key, options) {
          const hold = await tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () =>
            attempt(access, redis, key, options.leaseMs),
          );
          return refreshedHold(access, redis, hold, options.leaseMs, parts);
        },
      };
    },
  });
}

function refreshedHold(
  access: TopologyAccess,
  redis: Redis,
  plain: LockHold,
  leaseMs: number,
  { heedsTheRelease }: RefreshParts,
): LockHold {
  const stopped = new AbortController();
  const lost = new AbortController();
  const hold: LockHold = {
    grantSentNs: plain.grantSentNs!,
    lost: lost.signal,
    release() {
      stopped.abort();
      return plain.release();
    },
  };

  const refreshAgainAndAgain = async () => {
    for (;;) {
      await access.sleep(REFRESH_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      const lent = await answerOf(redis.ping().then(() => true));
      if (lent.is !== 'yes') continue;
      const sentNs = access.nowNs();
      const answer = await answerOf(plain.extend!(leaseMs).then((extended) => extended !== null));
      if (heedsTheRelease && stopped.signal.aborted) return;
      if (answer.is === 'no') return lost.abort('not the owner any more');
      if (answer.is === 'yes') access.renewed(hold, sentNs, leaseMs);
    }
  };

  void refreshAgainAndAgain();
  return hold;
}
