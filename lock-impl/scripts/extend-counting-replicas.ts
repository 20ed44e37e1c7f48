/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner's random value
 * ARGV[2]  the new lease in milliseconds, counted from now
 *
 * Returns how many replicas are connected to this server if the lock was this owner's and has the new lease, -1 if it
 * was not this owner's.
 */
export const extendCountingReplicas = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return -1
end
local replicas = tonumber(string.match(redis.call('info', 'replication'), 'connected_slaves:(%d+)'))
redis.call('pexpire', KEYS[1], ARGV[2])
return replicas
`;
