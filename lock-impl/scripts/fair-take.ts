/**
 * Takes a fair lock: only if it is free and no owner was queued before, or if it is the owner's already.
 *
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * KEYS[2], KEYS[3]  see fair-queue.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 * ARGV[3]  for how many milliseconds the owner counts as waiting from now on, if it is refused; 0: it does not wait
 *
 * Returns {1, how often the owner now holds it}, or {0, ms, why, queued}: it is worth trying again after so many
 * milliseconds (-1: unknown), why is 'held' or 'queued-behind', and queued is 1 if the queue took the owner in just
 * now, at its end.
 */
import { fairQueue } from './fair-queue.js';

export const fairTake = `${fairQueue}
local head, alive_for = next_alive()
local free = redis.call('exists', KEYS[1]) == 0
local mine = not free and redis.call('hexists', KEYS[1], ARGV[1]) == 1
if mine or (free and (head == nil or head == ARGV[1])) then
  if head == ARGV[1] then
    redis.call('lpop', KEYS[2])
    redis.call('zrem', KEYS[3], head)
  end
  local held = redis.call('hincrby', KEYS[1], ARGV[1], 1)
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('pexpire', KEYS[1], ARGV[2])
  end
  return {1, held}
end

local queued = 0
if tonumber(ARGV[3]) > 0 then
  if redis.call('lpos', KEYS[2], ARGV[1]) == false then
    redis.call('rpush', KEYS[2], ARGV[1])
    queued = 1
  end
  redis.call('zadd', KEYS[3], now + ARGV[3], ARGV[1])
  -- When all are dead no client is left to drop them.
  for at = 2, 3 do
    if redis.call('pttl', KEYS[at]) < tonumber(ARGV[3]) then
      redis.call('pexpire', KEYS[at], ARGV[3])
    end
  end
end
if free then
  return {0, alive_for, 'queued-behind', queued}
end
return {0, redis.call('pttl', KEYS[1]), 'held', queued}
`;
