/**
 * The twin of `abandoned-ticket`: takes its ticket back when it gives up, and drops those of clients that have not asked for a
 * lease, for who died or is cut off cannot.
 */
import { ticketLock } from './ticket-lock.js';

export default ticketLock('broken/abandoned-ticket-mended', {
  async giveUp(redis, [queue, asked], owner) {
    await redis.multi().lrem(queue, 0, owner).hdel(asked, owner).exec();
  },
  deadline: 'lease',
});
