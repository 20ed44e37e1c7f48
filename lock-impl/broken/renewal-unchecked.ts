/**
 * Renews without looking whose the key is. Production code has a timer with `redis.pexpire(key, lease)` in it, and takes 1
 * for "still mine".
 *
 * A client is paused for longer than its lease and another gets the lock. When the first wakes its timer renews the lock of
 * the other, and both go on, each told that it holds: it keeps a lock alive, only not its own.
 */
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/renewal-unchecked', {
  renew: async ({ redis, key }, leaseMs) => (await redis.pexpire(key, leaseMs)) === 1,
  afterFailure: 'try-again',
});
