/**
 * Takes the lease for seconds where Redis takes milliseconds: production code gets there when it changes from
 * `EX seconds` to `PX`, or from one library to another, and keeps the old division.
 *
 * A lease of 5,000 ms becomes PX 5: the key is gone in 5 ms, while the holder believes in five seconds.
 */
import { expiringLock } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/lease-in-seconds', {
  px: (leaseMs) => Math.max(1, Math.round(leaseMs / 1_000)),
  release: releaseByScript,
});
