/** The twin of `negative-expiry`: compares before it converts. */
import { countedLock, serverCounts } from './counted-lock.js';
import { NO_LEASE_SECONDS, withoutLease } from './default-lease.js';

export default countedLock('broken/negative-expiry-mended', {
  counts: (redis, key) =>
    withoutLease(serverCounts(redis, key), (seconds, usualMs) =>
      seconds === NO_LEASE_SECONDS ? usualMs : seconds * 1_000,
    ),
  renewed: false,
});
