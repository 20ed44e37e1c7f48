/**
 * `lock(); work(); unlock()` without `finally`: work that throws leaves the lock taken. One in five throws here.
 *
 * Exclusion is not worse for it: the lease ends what nobody unlocked. Until then all others wait for a lock that nobody uses.
 */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

const THROWS_ONE_IN = 5;

export default expiringLock('broken/unlock-skipped', {
  px: leaseInMs,
  release: async (redis, key, owner, { random }) =>
    random.int(1, THROWS_ONE_IN) === 1 || releaseByScript(redis, key, owner),
});
