/**
 * Converts "no lease given" as if it were one. Production code takes -1 for "the usual lease", turns all times into
 * milliseconds first, and compares with -1 afterwards.
 *
 * -1 s becomes -1,000 ms, which is not -1 any more, and so PEXPIRE is given -1,000: Redis deletes a key whose expiry lies in
 * the past, at once and without an error. The lock is granted and gone in the same script, to everybody who asks.
 */
import { countedLock, serverCounts } from './counted-lock.js';
import { NO_LEASE_SECONDS, withoutLease } from './default-lease.js';

export default countedLock('broken/negative-expiry', {
  counts: (redis, key) =>
    withoutLease(serverCounts(redis, key), (seconds, usualMs) => {
      const leaseMs = seconds * 1_000;
      return leaseMs === NO_LEASE_SECONDS ? usualMs : leaseMs;
    }),
  renewed: false,
});
