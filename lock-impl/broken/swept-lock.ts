/** SET NX PX whose owners are on a list while they hold, and a janitor in each client that removes the locks of those who are not. */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOf, answerOrRefusal, heldKey } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/**
 * KEYS[1]  the lock
 * KEYS[2]  the owners that hold: a set
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the lock is now this owner's, 0 if it is somebody's.
 */
const takeAndList = `
if not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 0
end
redis.call('sadd', KEYS[2], ARGV[1])
return 1
`;

/** KEYS and ARGV as above. Returns 1 if it was this owner's until now, 0 if it was not. */
const giveBackAndStrike = `
redis.call('srem', KEYS[2], ARGV[1])
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('del', KEYS[1])
`;

/** What the janitor knows. */
export interface Sweep {
  redis: Redis;
  key: string;
  /** The owners that hold, by all clients. */
  list: string;
  /** Those of them that are this client's. */
  mine: ReadonlySet<string>;
}

/** Removes the lock if no living owner holds it. */
export type Janitor = (sweep: Sweep) => Promise<void>;

export function sweptLock(name: string, janitor: Janitor): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    async connect(access) {
      const redis = await access.redis();
      const mine = new Set<string>();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const owner = access.randomValue();
        const list = companionKey(key, 'owners');
        const sentNs = access.nowNs();
        const result = await answerOrRefusal(redis.eval(takeAndList, 2, key, list, owner, leaseMs));
        if ('refusedBecause' in result) return result;
        if (result.answer !== 1) {
          await janitor({ redis, key, list, mine });
          return { refusedBecause: 'held' };
        }
        mine.add(owner);
        const giveBack = async () => {
          mine.delete(owner);
          return (await redis.eval(giveBackAndStrike, 2, key, list, owner)) === 1;
        };
        const { validForMs, grantSentNs } = heldKey(access, { redis, key, owner }, sentNs, leaseMs);
        if (validForMs > 0) return { hold: { validForMs, grantSentNs, release: () => certainOrDoubtful(giveBack()) } };
        await answerOf(giveBack());
        return { refusedBecause: 'granted-late' };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}
