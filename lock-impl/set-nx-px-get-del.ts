/**
 * SET NX PX with a random value; to give back, GET, compare in the client, DEL. Production code got there by the advice to
 * check whose lock it is before deleting, without the half of the advice that says to do both in one script.
 *
 * It promises that no client deletes another's lock, unless the lock changes hands between GET and DEL: a pause there (a
 * garbage collection, a busy machine, a slow network) that outlasts the lease deletes the next holder's lock, as plain DEL
 * does. The window is small, so that it takes months to be seen.
 *
 * Step points: `before-del`, between GET and DEL.
 */
import { expiringLock, leaseInMs } from './expiring-lock.js';

export default expiringLock('set-nx-px-get-del', {
  px: leaseInMs,
  async release(redis, key, owner, access) {
    if ((await redis.get(key)) !== owner) return false;
    await access.step('before-del');
    return (await redis.del(key)) === 1;
  },
});
