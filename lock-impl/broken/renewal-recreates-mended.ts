/** The twin of `renewal-recreates`: a key that is gone is lost, and so is one whose lease is over by its own clock. */
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/renewal-recreates-mended');
