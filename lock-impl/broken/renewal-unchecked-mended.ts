/** The twin of `renewal-unchecked`: renews only what is still its own, and has an eye on its clock. */
import { renewedLock } from './renewed-lock.js';

export default renewedLock('broken/renewal-unchecked-mended');
