/** The twin of `shared-owner`: an owner id that nobody else has. */
import { retriableLock } from './retriable-lock.js';

export default retriableLock('broken/shared-owner-mended', (access) => access.randomValue());
