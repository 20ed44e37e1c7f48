/** The twin of `watchdog-dies`: a renewal that failed is tried again at the next tick, until the lease is over by its own clock. */
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/watchdog-dies-mended');
