/**
 * KEYS[1]  the permits that are out: a sorted set of permit ids by the time at which they expire
 * ARGV[1]  the id of the permit
 * ARGV[2]  what time it is, milliseconds, by the clock of the client that asks
 * ARGV[3]  the new lease in milliseconds, counted from then
 *
 * Returns 1 if the permit was still there and has the new lease, 0 if it was not.
 */
export const extendExpirablePermit = `
if not redis.call('zscore', KEYS[1], ARGV[1]) then
  return 0
end
redis.call('zadd', KEYS[1], ARGV[2] + ARGV[3], ARGV[1])
return 1
`;
