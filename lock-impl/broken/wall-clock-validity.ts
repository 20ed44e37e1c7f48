/**
 * Redlock that takes the elapsed time from the wall clock. Production code writes `Date.now() - start`.
 *
 * While the nodes are asked, NTP sets the client's clock back. The elapsed time comes out small or negative, a majority that
 * came too late passes the check, and the holder takes its lock to be valid for longer than the lease.
 */
import { redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/wall-clock-validity', {
  stopwatch(access) {
    const beganMs = access.wallMs();
    return () => access.wallMs() - beganMs;
  },
});
