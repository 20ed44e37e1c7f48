/** The twin of `extend-by-zero`: a time that was not given is that of the lease. */
import { prolong } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';
import { NO_TIME_GIVEN } from './usual-time.js';

export default leaseLock('broken/extend-by-zero-mended', {
  extend: (mine, leaseMs) => prolong(mine, NO_TIME_GIVEN || leaseMs),
});
