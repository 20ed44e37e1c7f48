/**
 * Makes sure that its key is gone after it has released it, by asking whether there is one, and deletes what it finds. The
 * answer of the release would have said it. The idea (existence asked after the delete) is from symfony/symfony#54234.
 *
 * Between its delete and its question the next one takes the lock, and loses it at once.
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/deleted-until-gone', {
  px: leaseInMs,
  async release(redis, key, owner) {
    const released = await releaseByScript(redis, key, owner);
    while ((await redis.exists(key)) === 1) await redis.del(key);
    return released;
  },
});
