/**
 * Counts the permits that are out in one number, whose expiry is set with the first of them, so that no crash loses a permit for
 * ever.
 *
 * When the lease of the first is over all are taken for free, though later ones are held.
 */
import { permitsFromScripts } from './permits-from-scripts.js';

export default permitsFromScripts('broken/permits-expire-together', {
  take: `
local out = tonumber(redis.call('get', KEYS[1]) or 0)
if out >= tonumber(ARGV[1]) then
  return 0
end
if redis.call('incr', KEYS[1]) == 1 then
  redis.call('pexpire', KEYS[1], ARGV[3])
end
return 1
`,
  giveBack: `
if redis.call('exists', KEYS[1]) == 0 then
  return 0
end
if redis.call('decr', KEYS[1]) <= 0 then
  redis.call('del', KEYS[1])
end
return 1
`,
  deadline: 'lease',
});
