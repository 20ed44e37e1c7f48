/**
 * Frees a fair lock from any holder, however often it holds; the queue stays, and its head is notified.
 *
 * KEYS[1]  the lock
 * KEYS[2], KEYS[3]  see fair-queue.ts
 * ARGV[1]  what the channels begin with
 *
 * Returns 1 if somebody held it, else 0.
 */
import { fairQueue } from './fair-queue.js';

export const fairForceUnlock = `${fairQueue}
if redis.call('exists', KEYS[1]) == 0 then
  return 0
end
local head = next_alive()
if head then
  redis.call('publish', ARGV[1] .. head, 'free')
end
redis.call('del', KEYS[1])
return 1
`;
