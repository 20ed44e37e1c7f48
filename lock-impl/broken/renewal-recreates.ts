/**
 * Renews a key that is gone by making it again. Production code does it to be robust ("Redis was restarted, so put it back"),
 * and compares the owner only where there is one.
 *
 * A client is paused for longer than its lease; another gets the lock, does its work and releases it. When the first wakes
 * it finds the key gone, puts its lock back and goes on as if it had held all the time: what it read before is old by now,
 * and it never learns of it. A release that overtakes a renewal leaves a lock that no client has.
 */
import { renewedLock } from './renewed-lock.js';

/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner's random value
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the lock is this owner's now, 0 if it is another's.
 */
const renewOrRecreate = `
local owner = redis.call('get', KEYS[1])
if owner and owner ~= ARGV[1] then
  return 0
end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`;

export default renewedLock('broken/renewal-recreates', {
  renew: async ({ redis, key, owner }, leaseMs) => (await redis.eval(renewOrRecreate, 1, key, owner, leaseMs)) === 1,
  afterFailure: 'try-again',
});
