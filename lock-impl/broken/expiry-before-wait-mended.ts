/** The twin of `expiry-before-wait`: each try asks for a whole lease from then on. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/expiry-before-wait-mended', {
  px: leaseInMs,
  release: releaseByScript,
});
