/** The twin of `lost-wake-up`: looks again when the holder's lease is over. */
import { wokenLock } from './woken-lock.js';

export default wokenLock('broken/lost-wake-up-mended', (leaseLeftMs) => leaseLeftMs);
