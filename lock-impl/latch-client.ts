/** A latch as a lock client: what its counters and those who wait ask. */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { certainOrDoubtful } from './attempts.js';
import { CountDownLatch } from './count-down-latch.js';
import { defineLock, refused } from './define-lock.js';

/** How many count it down. */
const COUNTERS = 3;

/** `expiresMs`: a mistake, the count is gone after so long. */
export function countDownLatch(name: string, { expiresMs }: { expiresMs?: number }): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['shared'],
    model: { kind: 'latch', count: COUNTERS },
    lease: 'none',
    async connect(access: TopologyAccess) {
      const redis = await access.redis();
      return {
        async acquire(key: string, { mode, waitMs, signal }: AcquireOptions): Promise<LockHold> {
          const latch = new CountDownLatch(access, redis, key);
          if (mode === 'read') {
            if (!(await latch.opened(waitMs, signal))) throw refused('held');
            return { release: async () => {} };
          }
          // Whoever comes first closes it.
          const grantSentNs = access.nowNs();
          const closed = await latch.close(COUNTERS);
          if (closed && expiresMs !== undefined) await certainOrDoubtful(redis.pexpire(key, expiresMs));
          return {
            grantSentNs,
            release: async () => {
              await latch.countDown();
            },
          };
        },
      };
    },
  });
}
