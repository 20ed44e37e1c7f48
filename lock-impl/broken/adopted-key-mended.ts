/** The twin of `adopted-key`: a key that is its own gets a whole lease. */
import { nameOfMachine, retriableLock, SELDOM } from './retriable-lock.js';

export default retriableLock('broken/adopted-key-mended', nameOfMachine, { pause: SELDOM });
