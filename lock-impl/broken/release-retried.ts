/**
 * SET NX PX, renewed until it was released: a release that failed is tried again, and meanwhile the lock is still held. How one
 * try goes is what canaries get wrong.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, type OwnedKey, prolong, take } from '../owned-key.js';
import { keepRenewed } from '../renewal.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

const TRIES = 10;
const PAUSE_MS = 200;

/** What a release compares with what the server has; undefined when the hold is over. */
export interface Token {
  current: string | undefined;
}

/** Gives the lock back once. True: it was ours, and is free. */
export type ReleaseOnce = (token: Token, giveItBack: (owner: string) => Promise<boolean>) => Promise<boolean>;

export function releaseRetried(name: string, releaseOnce: ReleaseOnce): LockDefinition {
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
        return { hold: heldUntilReleased(access, mine, sentNs, leaseMs, releaseOnce) };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

function heldUntilReleased(
  access: TopologyAccess,
  mine: OwnedKey,
  grantSentNs: number,
  leaseMs: number,
  releaseOnce: ReleaseOnce,
): LockHold {
  const token: Token = { current: mine.owner };
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs,
    renew: () => prolong(mine, leaseMs),
    renewed: (sentNs) => access.renewed(hold, sentNs, leaseMs),
  });
  const hold: LockHold = {
    grantSentNs,
    lost: watchdog.lost,
    async release() {
      for (let tries = 1; ; tries++) {
        const answer = await answerOf(releaseOnce(token, (owner) => giveBack({ ...mine, owner })));
        if (answer.is === 'no') return false;
        if (answer.is === 'yes' || tries === TRIES) watchdog.stop(); // after that it ends with its lease
        if (answer.is === 'yes') return true;
        if (tries === TRIES) throw answer.is === 'unknown' ? answer.error : new Error(answer.reason);
        await access.sleep(PAUSE_MS);
      }
    },
  };
  return hold;
}
