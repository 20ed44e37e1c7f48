/**
 * The twin of `adopted-key`: a key that is its own gets a whole lease, and no other process has its owner id, or what the dead one had
 * sent to release its lock would release its successor's.
 */
import { retriableLock, SELDOM } from './retriable-lock.js';

export default retriableLock('broken/adopted-key-mended', (access) => access.randomValue(), { pause: SELDOM });
