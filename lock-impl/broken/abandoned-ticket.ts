/**
 * Leaves its ticket in the queue when it gives up. Production code returns from the loop when the wait is over, and
 * forgets the place that was taken before the loop.
 *
 * When that ticket comes to the head, the lock is free and is granted to no client: all wait for one that went away.
 */
import { ticketLock } from './ticket-lock.js';

export default ticketLock('broken/abandoned-ticket', { giveUp: async () => {}, deadline: 'never' });
