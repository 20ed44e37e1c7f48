/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner's random value
 * ARGV[2]  the lease in milliseconds
 *
 * Returns how many replicas are connected to this server if the lock was free and is now this owner's, -1 if it is
 * somebody's.
 *
 * The lock is written last, so that a script that fails has granted nothing.
 */
export const takeCountingReplicas = `
if redis.call('exists', KEYS[1]) == 1 then
  return -1
end
local replicas = tonumber(string.match(redis.call('info', 'replication'), 'connected_slaves:(%d+)'))
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return replicas
`;
