/**
 * KEYS[1]  the lock
 * KEYS[2]  the counter of fencing tokens, which has no expiry; in the slot of the lock
 * ARGV[1]  the owner's random value
 * ARGV[2]  the lease in milliseconds
 *
 * Returns the new token if the lock was free and is now this owner's, 0 if it is somebody's.
 *
 * The lock is written last: a script that fails before that has granted nothing, and has used up a token at most.
 */
export const takeWithToken = `
if redis.call('exists', KEYS[1]) == 1 then
  return 0
end
local token = redis.call('incr', KEYS[2])
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token
`;
