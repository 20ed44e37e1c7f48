/**
 * `finally { unlock(key) }` around a try whose answer nobody looks at, with an unlock that is a plain DEL. Tutorials have it, and
 * callers that unlock "in any case": also where the try was refused, or failed and is in doubt.
 *
 * Who is refused deletes the lock of the holder, and a third one gets in. It needs no fault, only contention.
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/unlock-after-refusal', {
  px: leaseInMs,
  release: releaseByScript,
  ungranted: (redis, key) => redis.del(key),
});
