/**
 * `reentrant` with a queue: a client that is refused is taken into it, and the lock goes to its head. Each waiter comes back
 * within a third of its lease, and is taken for dead when it does not within a whole one.
 *
 * It promises what `reentrant` does, granted in the order in which the queue took clients in. A waiter that died at the head
 * delays the others for one lease at most; one that was paused for so long may have lost its place, and queues up again. The
 * order is the server's: a failover can forget the queue, or a part of it. Tries without a wait do not queue, and are refused
 * while others do (`queued-behind`).
 *
 * Step points: `queued`, each time that the queue took us in; `granted`; `before-renewal`.
 */
import { defineLock } from './define-lock.js';
import { fairProtocol } from './fair-protocol.js';
import { ownedLocks } from './owned-locks.js';

export default defineLock({
  name: 'fair',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['renews', 'reentrant'],
  model: { kind: 'fair' },
  deadlines: { place: 'lease' },
  async connect(access) {
    const redis = await access.redis();
    return ownedLocks(access, (key) => fairProtocol(access, redis, key));
  },
});
