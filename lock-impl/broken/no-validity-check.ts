/**
 * Redlock that counts votes and does not look at the time. Production code leaves the "elapsed time" out because it never
 * mattered in a test; published libraries did, and granted a lease of 200 ms 600 ms after it had begun.
 *
 * A node answers late, or the client is paused between the answers and the decision (step `asked`): the lease is over on the
 * first nodes, another client got those, and the majority that comes together now is one of votes that have expired.
 */
import { redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/no-validity-check', {
  stopwatch: () => () => 0,
});
