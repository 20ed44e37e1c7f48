/**
 * A fair lock with a fast path: a newcomer tries the lock first, and queues up if it is held. Production code adds it
 * because most locks are free most of the time, and the queue costs a longer script.
 *
 * Between a release and the arrival of the client that was first in the queue, and was woken, the lock is free: a newcomer
 * gets it. Under contention those that waited longest go on waiting, and the lock is fair on paper only.
 */
import { takenFrom } from '../reentrant-protocol.js';
import { reentrantTake } from '../scripts/reentrant-take.js';
import { queueLock } from './queue-lock.js';

export default queueLock('broken/queue-jumper', {
  firstTry: async (redis, key, owner, leaseMs) =>
    takenFrom((await redis.eval(reentrantTake, 1, key, owner, leaseMs)) as [number, number]),
});
