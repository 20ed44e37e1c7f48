/**
 * Releases with a plain DEL. Production code does it in every `finally { await redis.del(key) }`, often with a random
 * value stored that is never compared.
 *
 * A holder that outlives its lease deletes the lock of the next one, and a third one gets in while the second
 * still works under a running lease. It needs holders that outlive their lease (`--careless --hold 0.5x..1.5x`).
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';

export default expiringLock('broken/blind-del', {
  px: leaseInMs,
  release: async (redis, key) => (await redis.del(key)) === 1,
});
