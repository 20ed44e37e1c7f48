/**
 * Tries a fixed number of times, whatever wait it was given. Libraries count retries where their callers think in time: three
 * retries, a second and a half apart, make a "try lock" of four seconds and a half.
 *
 * One or two would be told as well, without a cause: its client may have stood still once, and decided on them within the wait.
 *
 * No two clients ever hold at once. The caller, which asked not to wait, stands still each time the lock is held.
 */
import { countedTries } from './counted-tries.js';

export default countedTries('broken/overstayed-try', () => ({ count: 4, pauseMs: 1_500 }));
