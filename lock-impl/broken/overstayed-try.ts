/**
 * Tries a fixed number of times, whatever wait it was given. Libraries count retries where their callers think in time: one
 * retry after three seconds makes a "try lock" of three seconds.
 *
 * No two clients ever hold at once. The caller, which asked not to wait, stands still each time the lock is held.
 */
import { countedTries } from './counted-tries.js';

export default countedTries('broken/overstayed-try', () => ({ count: 2, pauseMs: 3_000 }));
