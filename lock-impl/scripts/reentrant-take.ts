/**
 * Takes a reentrant lock, once more if it is the owner's already.
 *
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 *
 * Returns {1, how often the owner now holds it}, with a lease of at least ARGV[2] from now on: a nested take never makes the
 * lease shorter that somebody further out relies on. Returns {0, PTTL} if it is another's; -1: that one's has no end.
 */
export const reentrantTake = `
if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return {0, redis.call('pttl', KEYS[1])}
end
local held = redis.call('hincrby', KEYS[1], ARGV[1], 1)
if redis.call('pttl', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('pexpire', KEYS[1], ARGV[2])
end
return {1, held}
`;
