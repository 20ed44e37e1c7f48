/**
 * A queue that takes a waiter for dead before it is due to show itself. The idea (a live waiter that is dropped) is from
 * redisson/redisson#3004.
 *
 * Who sleeps until it is its turn loses its place, queues up again at the end, and is overtaken by those who came later.
 */
import { queueLock } from './queue-lock.js';

export default queueLock('broken/waiter-dropped', { aliveForMs: (leaseMs) => Math.ceil(leaseMs / 30) });
