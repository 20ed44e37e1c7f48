/**
 * Gives one hold of a reentrant lock back, and tells those who wait when it was the last.
 *
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds that holds which are left get anew
 * ARGV[3]  the channel on which to say that the lock is free; '': no client listens
 *
 * Returns how often the owner still holds it, or nil if it was not the owner's: then nothing was done.
 */
export const reentrantGiveBack = `
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
if ARGV[3] ~= '' then
  redis.call('publish', ARGV[3], 'free')
end
redis.call('del', KEYS[1])
return 0
`;
