/** The twin of `count-not-reset`: the count is where the lock is, and expires with it. */
import { countedLock, serverCounts } from './counted-lock.js';

export default countedLock('broken/count-not-reset-mended', { counts: serverCounts, renewed: false });
