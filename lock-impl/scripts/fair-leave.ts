/**
 * Takes an owner that waits no longer out of the queue of a fair lock. If it was next and the lock is free, the new
 * head is notified.
 *
 * KEYS[1]  the lock
 * KEYS[2], KEYS[3]  see fair-queue.ts
 * ARGV[1]  the owner
 * ARGV[2]  what the channels begin with
 *
 * Returns 1 if it was in the queue, else 0.
 */
import { fairQueue } from './fair-queue.js';

export const fairLeave = `${fairQueue}
local was_in = redis.call('lrem', KEYS[2], 0, ARGV[1])
redis.call('zrem', KEYS[3], ARGV[1])
local head = next_alive()
if head and redis.call('exists', KEYS[1]) == 0 then
  redis.call('publish', ARGV[2] .. head, 'free')
end
return was_in
`;
