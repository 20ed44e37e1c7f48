/**
 * A lock that is taken by an optimistic transaction: WATCH, GET, and a SET between MULTI and EXEC if there was nothing. EXEC
 * answers nil where the key changed meanwhile, and then nothing was carried out; what is made of that is up to `isGranted`.
 */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { leaseLock } from './lease-lock.js';

/** `replies`: what EXEC answered; null: it was aborted. */
export function transactionalLock(name: string, isGranted: (replies: unknown[] | null) => boolean): LockDefinition {
  const lock = leaseLock(name, {
    async take({ redis, key, owner }, leaseMs) {
      await redis.watch(key);
      if ((await redis.get(key)) !== null) {
        await redis.unwatch();
        return false;
      }
      return isGranted(await redis.multi().set(key, owner, 'PX', leaseMs).exec());
    },
  });
  // What is watched belongs to one connection, and that of a Cluster has one for every node.
  return { ...lock, topologies: ['single', 'replica', 'sentinel'] };
}
