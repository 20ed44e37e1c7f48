/**
 * Says that the lock is lost when a refresh does not find it, also where that was on its way while the lock was released. The idea
 * is from swarthy/redis-semaphore#205.
 *
 * The release works, and its client is told all the same that it has lost the lock: work that was done well is called off, or the
 * process ends by an error that nobody awaits. It needs releases that meet a refresh: many, or a short interval.
 */
import { refreshedLock } from './refreshed-lock.js';

export default refreshedLock('broken/refresh-beside-release', { heedsTheRelease: false });
