/**
 * Reckons its lease from its first try, however many follow: the start is noted once, above the loop. The idea is from
 * mike-marcacci/node-redlock#296.
 *
 * A client that has waited for a lease takes every grant for one that is over. Here it sees that before it asks, and so waits
 * on beside a free lock until its wait is over.
 */
import { timedTries } from './timed-tries.js';

export default timedTries('broken/first-try-clock', (firstNs) => firstNs);
