/**
 * Extends by setting the key again, whatever is in it. Production code writes `SET key value PX lease` for "refresh", or
 * leaves the XX out that would at least have told it that the key was gone.
 *
 * A holder whose lease ran out extends it, gets the answer that it worked, and overwrites the lock of the next one: both
 * work under a running lease. It needs holders that extend late (`--careless --hold 0.5x..1.5x`, or a paused client).
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/extend-expired', {
  extend: async ({ redis, key, owner }, leaseMs) => (await redis.set(key, owner, 'PX', leaseMs)) === 'OK',
});
