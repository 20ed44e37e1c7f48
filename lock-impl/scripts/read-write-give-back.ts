/**
 * Gives one hold of a read-write lock back, and tells those who wait when somebody may get in now.
 *
 * KEYS[1], KEYS[2]  see read-write-state.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds that holds which are left get anew
 * ARGV[3]  'read' or 'write'
 * ARGV[4]  the channel
 *
 * Returns how often the owner still holds it in that mode, or nil if it did not hold it: then nothing was done.
 */
import { readWriteState } from './read-write-state.js';

export const readWriteGiveBack = `${readWriteState}
drop_expired()
local field = ARGV[3] .. ':' .. ARGV[1]
local held = redis.call('hget', KEYS[1], field)
if held == false then
  return nil
end
if tonumber(held) > 1 then
  held = redis.call('hincrby', KEYS[1], field, -1)
  lease(field, tonumber(ARGV[2]))
  return held
end
-- The last reader lets a writer in; a writer lets anybody in, or, if it reads on, other readers.
if ARGV[3] == 'write' or redis.call('zcard', KEYS[2]) == 1 then
  redis.call('publish', ARGV[4], 'free')
end
redis.call('hdel', KEYS[1], field)
redis.call('zrem', KEYS[2], field)
settle()
return 0
`;
