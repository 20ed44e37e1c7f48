/**
 * SET NX PX, given back by a plain DEL: one atomic command to take, and `finally { await redis.del(key) }`. Production
 * code got there from `setnx-expire` by way of the right option, and stopped, as the code reads well and tests pass.
 *
 * It promises that a crash blocks others for no longer than a lease. A holder that outlives its lease deletes the lock of
 * the next one, and a third one gets in while the second still works under a running lease.
 */
import { expiringLock, leaseInMs } from './expiring-lock.js';

export default expiringLock('set-nx-px-del', {
  px: leaseInMs,
  release: async (redis, key) => (await redis.del(key)) === 1,
});
