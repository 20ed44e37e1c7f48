/** The twin of `silent-unlock`: passes on what the script says. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/silent-unlock-mended', {
  px: leaseInMs,
  release: releaseByScript,
});
