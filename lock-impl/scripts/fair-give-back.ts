/**
 * Gives one hold of a fair lock back, and tells the one who is next when it was the last.
 *
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * KEYS[2], KEYS[3]  see fair-queue.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds that holds which are left get anew
 * ARGV[3]  what the channels begin with: each waiter listens to one of its own, which ends in its name
 *
 * Returns how often the owner still holds it, or nil if it was not the owner's: then nothing was done.
 */
import { fairQueue } from './fair-queue.js';

export const fairGiveBack = `${fairQueue}
local held = redis.call('hget', KEYS[1], ARGV[1])
if held == false then
  return nil
end
if tonumber(held) > 1 then
  held = redis.call('hincrby', KEYS[1], ARGV[1], -1)
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('pexpire', KEYS[1], ARGV[2])
  end
  return held
end
local head = next_alive()
if head then
  redis.call('publish', ARGV[3] .. head, 'free')
end
redis.call('del', KEYS[1])
return 0
`;
