/**
 * An unlock script that looks at one argument and counts down another. Production code passes (lease, owner) to a script that
 * was written for (owner, lease), or copies one of the well-known scripts and renumbers half of it: Redis accepts any field.
 *
 * The owner's own count never falls. The unlock reports that the lock is still held once more, so the watchdog goes on, and
 * no other client ever gets the lock while that one lives; the client itself can "lock" it as often as it likes.
 */
import { countedLock, serverCounts } from './counted-lock.js';

/**
 * KEYS[1]  the lock: a hash with one field, owner → how often it is held
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds that holds which are left get anew
 */
const unlockSwapped = `
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local left = redis.call('hincrby', KEYS[1], ARGV[2], -1)
if left == 0 then
  redis.call('del', KEYS[1])
else
  redis.call('pexpire', KEYS[1], ARGV[2])
end
return left
`;

export default countedLock('broken/swapped-arguments', {
  counts: (redis, key) => ({
    ...serverCounts(redis, key),
    giveBack: (owner, leaseMs) => redis.eval(unlockSwapped, 1, key, owner, leaseMs) as Promise<number | null>,
  }),
  renewed: true,
});
