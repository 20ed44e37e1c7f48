/** The twin of `deleted-until-gone`: goes by what the release answered. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/deleted-until-gone-mended', {
  px: leaseInMs,
  release: releaseByScript,
});
