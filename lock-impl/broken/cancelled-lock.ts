/**
 * SET NX PX for callers that may give up while they wait: it tells them at once, though its command may be on its way. What
 * becomes of a grant that comes then is what canaries get wrong.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { tryUntilGranted } from '../attempts.js';
import { defineLock, refused } from '../define-lock.js';
import { answerOf, giveBack, heldKey, type OwnedKey, take } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** What is done about a command that may still store `mine`, when its caller has given up; it is waited for. */
export type GivenUp = (mine: OwnedKey, answer: Promise<boolean>) => Promise<unknown>;

export function cancelledLock(name: string, givenUp: GivenUp): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, { leaseMs, signal }: AcquireOptions) => {
        const mine = { redis, key, owner: access.randomValue() };
        const sentNs = access.nowNs();
        const answer = take(mine, leaseMs);
        if (await Promise.race([answer.then(() => false), aborted(signal)])) {
          await givenUp(mine, answer);
          throw refused('cancelled');
        }
        return (await answer) ? { hold: heldKey(access, mine, sentNs, leaseMs) } : { refusedBecause: 'held' };
      };
      return {
        acquire: (key, options) => tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options)),
      };
    },
  });
}

/** One for all attempts of an acquire: each would have a listener of its own. */
const abortions = new WeakMap<AbortSignal, Promise<true>>();

function aborted(signal: AbortSignal): Promise<true> {
  const known = abortions.get(signal);
  if (known) return known;
  const coming = new Promise<true>((resolve) => {
    if (signal.aborted) resolve(true);
    else signal.addEventListener('abort', () => resolve(true), { once: true });
  });
  abortions.set(signal, coming);
  return coming;
}

/** Waits for the answer, and gives back what was granted, or may have been: sent over the same connection that comes after it. */
export const takeBack: GivenUp = async (mine, answer) => {
  const { is } = await answerOf(answer);
  if (is === 'yes' || is === 'unknown') await giveBack(mine);
};
