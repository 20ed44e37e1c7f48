/** The twin of `resent-del`: what is sent again releases only what is still its own. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/resent-del-mended', {
  clients: 'defaults',
  px: leaseInMs,
  release: releaseByScript,
});
