/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner's random value
 * ARGV[2]  the new lease in milliseconds, counted from now
 *
 * Returns 1 if the lock was this owner's and has the new lease, 0 if it was not this owner's.
 */
export const extendIfMine = `
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
`;
