/**
 * A lock with a queue of tickets in a list: granted to the head of the queue, when the key is free. What becomes of a ticket
 * whose client is gone is what canaries get wrong.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import type { Deadline } from '../../harness/vocabulary/protocol.js';
import { type Attempt, tryUntilGranted } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOrRefusal, heldKey } from '../owned-key.js';
import { serverNow } from '../scripts/server-now.js';

/**
 * KEYS[1]  the lock
 * KEYS[2]  the queue, a list of owners, the next one at its head
 * KEYS[3]  when each of them last asked, a hash of milliseconds of the server's clock; not used where tickets stay
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 * ARGV[3]  for how long a client may not ask before its ticket is dropped, milliseconds; 0: it stays
 *
 * Returns 1 if the lock is now this owner's, 0 if it is to wait: its ticket is in the queue then.
 */
const takeInTurn = `
local patience = tonumber(ARGV[3])
if patience > 0 then
  ${serverNow}
  redis.call('hset', KEYS[3], ARGV[1], now)
  local head = redis.call('lindex', KEYS[2], 0)
  while head and tonumber(redis.call('hget', KEYS[3], head) or 0) + patience < now do
    redis.call('lpop', KEYS[2])
    redis.call('hdel', KEYS[3], head)
    head = redis.call('lindex', KEYS[2], 0)
  end
end
if redis.call('lpos', KEYS[2], ARGV[1]) == false then
  redis.call('rpush', KEYS[2], ARGV[1])
end
if redis.call('exists', KEYS[1]) == 0 and redis.call('lindex', KEYS[2], 0) == ARGV[1] then
  redis.call('lpop', KEYS[2])
  redis.call('hdel', KEYS[3], ARGV[1])
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`;

export interface Tickets {
  /** What one does that waited in vain. `keys`: the queue, and when each in it last asked. */
  giveUp(redis: Redis, keys: [string, string], owner: string): Promise<void>;
  /** When the ticket of a client that asks no more is dropped. */
  deadline: Extract<Deadline, 'lease' | 'never'>;
}

export function ticketLock(name: string, { giveUp, deadline }: Tickets): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    deadlines: { place: deadline },
    async connect(access) {
      const redis = await access.redis();
      return {
        async acquire(key: string, options: AcquireOptions) {
          const keys: [string, string] = [companionKey(key, 'tickets'), companionKey(key, 'asked')];
          const mine = { redis, key, owner: access.randomValue() };
          const { leaseMs } = options;
          const patienceMs = deadline === 'lease' ? leaseMs : 0;
          const attempt = async (): Promise<Attempt> => {
            const sentNs = access.nowNs();
            const taken = redis.eval(takeInTurn, 3, key, ...keys, mine.owner, leaseMs, patienceMs);
            const result = await answerOrRefusal(taken);
            if ('refusedBecause' in result) return result;
            return result.answer === 1 ? { hold: heldKey(access, mine, sentNs, leaseMs) } : { refusedBecause: 'held' };
          };
          try {
            return await tryUntilGranted(access, options, { minMs: 10, maxMs: 30 }, attempt);
          } catch (error) {
            await giveUp(redis, keys, mine.owner);
            throw error;
          }
        },
      };
    },
  });
}
