/**
 * Fixes when its lease ends before it waits for the lock. Production code computes the end once, in the constructor or at the
 * head of `acquire`. The idea is from symfony/symfony#31426.
 *
 * A client that waited for half of the lease is granted the other half, and believes that it has a whole one.
 */
import { expiringLock } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/expiry-before-wait', {
  px: (leaseMs, waitedMs) => Math.max(1, Math.ceil(leaseMs - waitedMs)),
  release: releaseByScript,
});
