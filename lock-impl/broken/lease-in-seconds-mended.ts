/** The twin of `lease-in-seconds`: PX is given milliseconds. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/lease-in-seconds-mended', {
  px: leaseInMs,
  release: releaseByScript,
});
