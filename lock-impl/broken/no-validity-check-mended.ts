/** The twin of `no-validity-check`: what has passed since the nodes were asked is off the lease. */
import { monotonic, redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/no-validity-check-mended', { stopwatch: monotonic });
