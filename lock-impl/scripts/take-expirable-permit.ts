/**
 * KEYS[1]  the permits that are out: a sorted set of permit ids by the time at which they expire
 * ARGV[1]  how many permits there are
 * ARGV[2]  the id of the permit that is wanted
 * ARGV[3]  what time it is, milliseconds, by the clock of the client that asks
 * ARGV[4]  the lease in milliseconds
 *
 * Returns 1 if a permit was free or expired by that clock and is this client's now, 0 if none was.
 */
export const takeExpirablePermit = `
if redis.call('zcount', KEYS[1], '(' .. ARGV[3], '+inf') >= tonumber(ARGV[1]) then
  return 0
end
redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3])
redis.call('zadd', KEYS[1], ARGV[3] + ARGV[4], ARGV[2])
return 1
`;
