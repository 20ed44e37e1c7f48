/**
 * Releases with a plain DEL, over a client with the settings that ioredis has by itself (`new Redis(host)`): what was not
 * answered when its connection broke is sent again over the next one. Its clients never outlive their lease, so that the DEL
 * looks safe.
 *
 * A DEL whose answer was lost is carried out twice. Between the two, which lie 50 ms apart, the next one takes the lock, and
 * loses it to the second. It needs connections that break after the server has done what it was asked (`reset-on-reply`).
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';

export default expiringLock('broken/resent-del', {
  clients: 'defaults',
  px: leaseInMs,
  release: async (redis, key) => (await redis.del(key)) === 1,
});
