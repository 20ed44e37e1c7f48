/**
 * Tries a fixed number of times, whatever wait it was given. Libraries count retries where their callers think in time: two
 * retries, two seconds apart, make a "try lock" of four seconds.
 *
 * One retry would be told as well, without a cause: its client may have decided on it within the wait, and stood still.
 *
 * No two clients ever hold at once. The caller, which asked not to wait, stands still each time the lock is held.
 */
import { countedTries } from './counted-tries.js';

export default countedTries('broken/overstayed-try', () => ({ count: 3, pauseMs: 2_000 }));
