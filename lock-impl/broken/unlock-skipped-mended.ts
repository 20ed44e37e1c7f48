/** The twin of `unlock-skipped`: unlocks in `finally`, whatever became of the work. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/unlock-skipped-mended', { px: leaseInMs, release: releaseByScript });
