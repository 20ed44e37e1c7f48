/** The twin of `unlock-after-refusal`: its callers unlock in any case, too, and what is not theirs stays. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/unlock-after-refusal-mended', {
  px: leaseInMs,
  release: releaseByScript,
  ungranted: releaseByScript,
});
