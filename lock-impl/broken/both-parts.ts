/**
 * Two keys, both or none, asked for in the order in which they come: of two resources that the caller names in any order. A try
 * that is refused gives back what `toGiveBack` says.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { heldParts, type TakenParts, takeInOrder } from '../multi.js';
import { answerOf, giveBack, type OwnedKey } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** What a try that failed gives back of what it has asked for. */
export type ToGiveBack = (taken: TakenParts) => readonly OwnedKey[];

export function bothParts(name: string, toGiveBack: ToGiveBack): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (keys: readonly string[], leaseMs: number): Promise<Attempt> => {
        const parts = keys.map((key) => ({ redis, key, owner: access.randomValue() }));
        const taken = await takeInOrder(access, parts, { leaseMs, mayMiss: 0 });
        const validMs = validForMs(access, taken.sentNs, leaseMs);
        if (taken.got.length === parts.length && validMs > 0) {
          const { release } = heldParts(access, taken.got, parts.length);
          return { hold: { release, validForMs: validMs, grantSentNs: taken.sentNs } };
        }
        await Promise.all(toGiveBack(taken).map((part) => answerOf(giveBack(part))));
        if (taken.doubtful.length > 0) throw taken.doubtful[0]!.error;
        return { refusedBecause: taken.refusedBecause[0] ?? 'granted-late' };
      };
      return {
        acquire(key: string, options: AcquireOptions) {
          const keys = access.random.float() < 0.5 ? [key, `${key}:b`] : [`${key}:b`, key];
          return tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(keys, options.leaseMs));
        },
      };
    },
  });
}
