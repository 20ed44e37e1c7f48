/**
 * SET NX PX with a watchdog, whose callers wait for an answer only so long, and are refused then. The answer may still come;
 * what is made of a grant that comes too late is what canaries get wrong.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, giveBack, type OwnedKey, prolong, take } from '../owned-key.js';
import { keepRenewed } from '../renewal.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** For how long a caller waits for an answer, milliseconds. */
const PATIENCE_MS = 100;

/** What a lock does about a try whose caller has gone. */
export interface TooLate {
  /** The caller was refused just now; what was asked for may be granted still. */
  refused?(mine: OwnedKey): void;
  /** The answer came after that: it is granted, and renewed until it is released. */
  granted?(hold: LockHold): void;
}

export function impatientLock(name: string, tooLate: TooLate): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: access.randomValue() };
        const grantSentNs = access.nowNs();
        let stands: 'open' | 'answered' | 'given up' = 'open';
        const asked = answerOf(take(mine, leaseMs)).then((answer): Attempt => {
          const isLate = stands === 'given up';
          stands = 'answered';
          if (answer.is === 'no') return { refusedBecause: 'held' };
          if (answer.is === 'undone') return { refusedBecause: answer.reason };
          if (answer.is === 'unknown') throw answer.error;
          const hold = watchedHold(access, mine, grantSentNs, leaseMs);
          if (isLate) tooLate.granted?.(hold);
          return { hold };
        });
        asked.catch(() => {}); // where nobody waits for it any more
        const impatience = access.sleep(PATIENCE_MS).then((): Attempt => {
          if (stands === 'open') {
            stands = 'given up';
            tooLate.refused?.(mine);
          }
          return { refusedBecause: 'no answer in time' };
        });
        return Promise.race([asked, impatience]);
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

function watchedHold(access: TopologyAccess, mine: OwnedKey, grantSentNs: number, leaseMs: number): LockHold {
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs,
    renew: () => prolong(mine, leaseMs),
    renewed: (sentNs) => access.renewed(hold, sentNs, leaseMs),
  });
  const hold: LockHold = {
    grantSentNs,
    lost: watchdog.lost,
    release() {
      watchdog.stop();
      return giveBack(mine);
    },
  };
  return hold;
}
