/** The twin of `blind-del`: releases only what is still its own. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/blind-del-mended', {
  px: leaseInMs,
  release: releaseByScript,
});
