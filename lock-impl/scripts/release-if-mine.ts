/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner's random value
 *
 * Returns 1 if the lock was this owner's and is now free, 0 if it was not this owner's (expired, or somebody else's).
 */
export const releaseIfMine = `
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0
`;
