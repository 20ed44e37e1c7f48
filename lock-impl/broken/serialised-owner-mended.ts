/** The twin of `serialised-owner`: what is compared is serialised as what was stored. */
import { expiringLock, leaseInMs } from '../expiring-lock.js';
import { releaseByScript } from './release.js';

export default expiringLock('broken/serialised-owner-mended', {
  px: leaseInMs,
  stored: JSON.stringify,
  release: (redis, key, owner) => releaseByScript(redis, key, JSON.stringify(owner)),
});
