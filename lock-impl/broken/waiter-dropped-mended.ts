/** The twin of `waiter-dropped`: a waiter has a lease, in which it is due three times. */
import { queueLock } from './queue-lock.js';

export default queueLock('broken/waiter-dropped-mended', { aliveForMs: (leaseMs) => leaseMs });
