/** The twin of `unlocked-at-first`: what it looks at is what it counts down. */
import { countedLock, serverCounts } from './counted-lock.js';

export default countedLock('broken/unlocked-at-first-mended', { counts: serverCounts, renewed: false });
