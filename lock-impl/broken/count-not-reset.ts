/**
 * Keeps the count of a reentrant lock in the client's memory, where it does not expire with the lock. Production code has a
 * thread-local map, key → count, asks Redis for the first lock only, and forgets the count where an unlock succeeded.
 *
 * The lease runs out, another client gets the lock, and the first one's unlock fails, as it should; but its count is still 1.
 * Whenever it locks again that is "nested" and granted on the spot, beside the holder. It needs holders that outlive their
 * lease (`--careless --hold 0.5x..1.5x`, or a paused client).
 */
import type { Redis } from 'ioredis';
import { type Counts, countedLock, serverCounts } from './counted-lock.js';

function countedInMemory(redis: Redis, key: string): Counts {
  const server = serverCounts(redis, key);
  let count = 0;
  return {
    async take(owner, leaseMs) {
      if (count > 0 || (await server.take(owner, leaseMs)) > 0) count += 1;
      return count;
    },
    async giveBack(owner, leaseMs) {
      if (count > 1) return --count;
      const left = await server.giveBack(owner, leaseMs);
      if (left !== null) count = 0;
      return left;
    },
  };
}

export default countedLock('broken/count-not-reset', { counts: countedInMemory, renewed: false });
