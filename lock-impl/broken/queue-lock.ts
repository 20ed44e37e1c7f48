/** `fair`, from the parts that canaries get wrong; a part that is left out is right. */
import type { Redis } from 'ioredis';
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { fairProtocol } from '../fair-protocol.js';
import { ownedLocks } from '../owned-locks.js';
import type { Protocol, TakeResult } from '../reentrant-lock.js';

/** What a client tries that is not in the queue; undefined: nothing, it is to go the way of all. */
export type FirstTry = (redis: Redis, key: string, owner: string, leaseMs: number) => Promise<TakeResult | undefined>;

export interface QueueParts {
  firstTry?: FirstTry;
  /** For how long a waiter counts as alive that says nothing, milliseconds, of the `leaseMs` within a third of which it comes back. */
  aliveForMs?(leaseMs: number): number;
}

export function queueLock(name: string, { firstTry, aliveForMs = (leaseMs) => leaseMs }: QueueParts): LockDefinition {
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
            const first = inQueue ? undefined : await firstTry?.(redis, key, owner, leaseMs);
            if (first?.granted) return first;
            const taken = await protocol.take(owner, leaseMs, waitsMs > 0 ? aliveForMs(waitsMs) : 0);
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
