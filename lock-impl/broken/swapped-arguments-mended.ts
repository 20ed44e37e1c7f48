/** The twin of `swapped-arguments`: what it looks at is what it counts down. */
import { countedLock, serverCounts } from './counted-lock.js';

export default countedLock('broken/swapped-arguments-mended', { counts: serverCounts, renewed: true });
