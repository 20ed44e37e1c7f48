/**
 * Does not look at what EXEC answered. Production code catches errors of a transaction, and takes everything else for a yes;
 * a transaction that was aborted because another client was faster is no error.
 *
 * Of two clients that ask at once both "hold", and only one of them was stored.
 */
import { transactionalLock } from './transactional-lock.js';

export default transactionalLock('broken/aborted-exec', () => true);
