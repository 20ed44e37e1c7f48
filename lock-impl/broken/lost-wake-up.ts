/**
 * Waits for a message and for nothing else. Production code replaces its polling by pub/sub and drops the poll altogether.
 *
 * When a holder dies and its lease runs out, nothing is published; what is published while the connection is away is lost.
 * The lock is free, and the waiter sleeps on until its own wait is over: for ever, where that has no end.
 */
import { wokenLock } from './woken-lock.js';

export default wokenLock('broken/lost-wake-up', () => Number.POSITIVE_INFINITY);
