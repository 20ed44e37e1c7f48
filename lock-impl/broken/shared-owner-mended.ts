/** The twin of `shared-owner`: an owner id of its own. */
import { retriableLock } from './retriable-lock.js';

export default retriableLock('broken/shared-owner-mended', (access) => access.randomValue());
