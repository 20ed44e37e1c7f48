/**
 * SET NX PX that counts only once so many replicas have it: SET and WAIT leave in one pipeline, on one connection, and a grant
 * that too few acknowledged is given back.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** `replicas`: how many must have acknowledged. `enough`: what is made of how many have, when those were waited for. */
export function acknowledgedLock(
  name: string,
  replicas: number,
  enough: (acknowledged: number) => boolean = (acknowledged) => acknowledged >= replicas,
): LockDefinition {
  return defineLock({
    name,
    topologies: ['replica', 'sentinel'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: access.randomValue() };
        const waitMs = Math.max(1, Math.floor(Math.min(access.options.commandTimeoutMs / 2, leaseMs / 10)));
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(takeAndWait(mine, leaseMs, replicas, waitMs));
        if ('refusedBecause' in result) return result;
        if (result.answer === 'held') return { refusedBecause: 'held' };

        const { release, validForMs, grantSentNs } = heldKey(access, mine, sentNs, leaseMs);
        const replicated = enough(result.answer);
        if (replicated && validForMs > 0) return { hold: { release, validForMs, grantSentNs } };
        await answerOf(giveBack(mine));
        return { refusedBecause: replicated ? 'granted-late' : 'not-replicated' };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

/** How many replicas have the grant. */
async function takeAndWait(
  { redis, key, owner }: OwnedKey,
  leaseMs: number,
  replicas: number,
  waitMs: number,
): Promise<number | 'held'> {
  const replies = await redis.pipeline().set(key, owner, 'PX', leaseMs, 'NX').wait(replicas, waitMs).exec();
  const [taken, waited] = replies ?? [];
  if (!taken || taken[0]) throw taken?.[0] ?? new Error('no answer');
  if (taken[1] === null) return 'held';
  // Granted by the primary; whatever kept us from knowing more, it was not acknowledged.
  return waited && !waited[0] ? Number(waited[1]) : 0;
}
