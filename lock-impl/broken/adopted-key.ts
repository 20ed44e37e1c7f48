/**
 * Finds its own owner id in the key, and takes that for a grant of a whole lease. Production code makes its acquire
 * repeatable with an id that outlives the process (a host name, the name of a pod): "the lock is mine already", it says of a
 * key that it stored some time ago, and leaves the time to live as it is.
 *
 * A holder that dies and comes back works for a lease from then on; its old key ends in the midst of that, and another
 * client gets in.
 */
import { nameOfMachine, retriableLock, SELDOM } from './retriable-lock.js';

/** KEYS, ARGV and answers: see retriable-lock.ts. */
const acquireOrBelieve = `
local owner = redis.call('get', KEYS[1])
if owner == ARGV[1] then
  return 1
end
if owner == false then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`;

export default retriableLock('broken/adopted-key', nameOfMachine, {
  acquireScript: acquireOrBelieve,
  pause: SELDOM,
});
