/**
 * Renews the lease of a reentrant lock.
 *
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds, counted from now
 *
 * Returns 1 if the lock was this owner's and has at least that lease, 0 if it was not this owner's.
 */
export const renewIfOwner = `
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if redis.call('pttl', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('pexpire', KEYS[1], ARGV[2])
end
return 1
`;
