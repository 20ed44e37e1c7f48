/**
 * A well-known reentrant unlock, as articles print it, that looks at `ARGV[1]` and counts down `ARGV[2]`, called with the owner and
 * the lease. The field that it counts down is not there: its count is -1 at once, and at or below 0 the lock is deleted.
 *
 * An owner that holds it twice loses it at its first unlock, and goes on. Taken once, it works, so that tests of one hold pass.
 */
import { countedLock, serverCounts } from './counted-lock.js';

/**
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds that holds which are left get anew
 */
const unlockBelowNothing = `
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local left = redis.call('hincrby', KEYS[1], ARGV[2], -1)
if left > 0 then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return left
end
redis.call('del', KEYS[1])
return 0
`;

export default countedLock('broken/unlocked-at-first', {
  counts: (redis, key) => ({
    ...serverCounts(redis, key),
    giveBack: (owner, leaseMs) => redis.eval(unlockBelowNothing, 1, key, owner, leaseMs) as Promise<number | null>,
  }),
  renewed: false,
});
