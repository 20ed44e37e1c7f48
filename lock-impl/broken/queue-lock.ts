/** `fair`, with whatever is done before a newcomer queues up. */
import type { Redis } from 'ioredis';
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { fairProtocol } from '../fair-protocol.js';
import { ownedLocks } from '../owned-locks.js';
import type { Protocol, TakeResult } from '../reentrant-lock.js';

/** What a client tries that is not in the queue; undefined: nothing, it is to go the way of all. */
export type FirstTry = (redis: Redis, key: string, owner: string, leaseMs: number) => Promise<TakeResult | undefined>;

export function queueLock(name: string, firstTry: FirstTry): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'reentrant'],
    model: { kind: 'fair' },
    deadlines: { place: 'lease' },
    async connect(access) {
      const redis = await access.redis();
      return ownedLocks(access, (key): Protocol => {
        const protocol = fairProtocol(access, redis, key);
        let inQueue = false;
        return {
          ...protocol,
          async take(owner, leaseMs, waitsMs) {
            const first = inQueue ? undefined : await firstTry(redis, key, owner, leaseMs);
            if (first?.granted) return first;
            const taken = await protocol.take(owner, leaseMs, waitsMs);
            inQueue = !taken.granted && waitsMs > 0;
            return taken;
          },
          async leave(owner) {
            inQueue = false;
            await protocol.leave!(owner);
          },
        };
      });
    },
  });
}
