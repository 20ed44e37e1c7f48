/** The twin of `pid-owner`: an owner id that was drawn. */
import { retriableLock } from './retriable-lock.js';

export default retriableLock('broken/pid-owner-mended', (access) => access.randomValue());
