/**
 * A lock with a queue of tickets in a list: granted to the head of the queue, when the key is free. A part that is left out is
 * right: who gives up takes its ticket back.
 *
 * A client that dies leaves its ticket where it is. So this is for runs in which no client dies; `fair` has deadlines for
 * that.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOrRefusal, heldKey } from '../owned-key.js';

/**
 * KEYS[1]  the lock
 * KEYS[2]  the queue, a list of owners, the next one at its head
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the lock is now this owner's, 0 if it is to wait: its ticket is in the queue then.
 */
const takeInTurn = `
if redis.call('lpos', KEYS[2], ARGV[1]) == false then
  redis.call('rpush', KEYS[2], ARGV[1])
end
if redis.call('exists', KEYS[1]) == 0 and redis.call('lindex', KEYS[2], 0) == ARGV[1] then
  redis.call('lpop', KEYS[2])
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`;

export interface TicketParts {
  /** What one does that waited in vain. */
  giveUp?(redis: Redis, queue: string, owner: string): Promise<void>;
}

const takeTicketBack = async (redis: Redis, queue: string, owner: string) => {
  await redis.lrem(queue, 0, owner);
};

export function ticketLock(name: string, { giveUp = takeTicketBack }: TicketParts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    deadlines: { place: 'never' },
    async connect(access) {
      const redis = await access.redis();
      return {
        async acquire(key: string, options: AcquireOptions) {
          const queue = companionKey(key, 'tickets');
          const mine = { redis, key, owner: access.randomValue() };
          const attempt = async (): Promise<Attempt> => {
            const sentNs = access.nowNs();
            const result = await answerOrRefusal(redis.eval(takeInTurn, 2, key, queue, mine.owner, options.leaseMs));
            if ('refusedBecause' in result) return result;
            return result.answer === 1
              ? { hold: heldKey(access, mine, sentNs, options.leaseMs) }
              : { refusedBecause: 'held' };
          };
          try {
            return await tryUntilGranted(access, options, { minMs: 10, maxMs: 30 }, attempt);
          } catch (error) {
            await giveUp(redis, queue, mine.owner);
            throw error;
          }
        },
      };
    },
  });
}
