/** SET NX PX with a fencing token, wherever that comes from. */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal, giveBack, heldKey, type OwnedKey } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** Takes the lock: its token, or 0 if it is somebody's. Made once per client. */
export type TakeWithToken = (mine: OwnedKey, leaseMs: number) => Promise<number>;

export function tokenedLock(name: string, makeTake: () => TakeWithToken): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['extend', 'fencing'],
    model: { kind: 'fenced' },
    async connect(access) {
      const redis = await access.redis();
      const take = makeTake();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const mine = { redis, key, owner: access.randomValue() };
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(take(mine, leaseMs));
        if ('refusedBecause' in result) return result;
        if (result.answer === 0) return { refusedBecause: 'held' };

        const hold = { ...heldKey(access, mine, sentNs, leaseMs), token: result.answer };
        if (hold.validForMs > 0) return { hold };
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
