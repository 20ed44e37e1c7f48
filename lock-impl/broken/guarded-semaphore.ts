/**
 * A semaphore of two permits whose holders give one back when its lease is over, so that work that hangs does not keep it: by a
 * timer in the holder, beside its release. What a permit is makes the second of the two harmless or not.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Deadline } from '../../harness/vocabulary/protocol.js';
import { defineLock } from '../define-lock.js';
import { PERMITS } from './permits-from-scripts.js';

export interface Permits {
  acquire(access: TopologyAccess, redis: Redis, key: string, options: AcquireOptions): Promise<LockHold>;
  /** When a permit of which no more is heard comes back. */
  deadline: Deadline;
}

export function guardedSemaphore(name: string, { acquire, deadline }: Permits) {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    model: { kind: 'semaphore', permits: PERMITS },
    deadlines: { permit: deadline },
    async connect(access) {
      const redis = await access.redis();
      return {
        async acquire(key: string, options: AcquireOptions): Promise<LockHold> {
          const hold = await acquire(access, redis, key, options);
          const lost = new AbortController();
          void access.sleep(hold.validForMs ?? options.leaseMs).then(async () => {
            // A holder that still works under it learns of it. What could not be given back now is not tried again.
            lost.abort('its lease is over');
            await hold.release().catch(() => {});
          });
          return { ...hold, lost: lost.signal };
        },
      };
    },
  });
}
