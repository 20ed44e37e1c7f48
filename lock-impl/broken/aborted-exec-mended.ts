/** The twin of `aborted-exec`: an aborted transaction granted nothing. */
import { transactionalLock } from './transactional-lock.js';

export default transactionalLock('broken/aborted-exec-mended', (replies) => replies !== null);
