/**
 * Renews the lease of one holder of a read-write lock.
 *
 * KEYS[1], KEYS[2]  see read-write-state.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds, counted from now
 * ARGV[3]  'read' or 'write'
 *
 * Returns 1 if the owner held it in that mode and has at least that lease, else 0.
 */
import { readWriteState } from './read-write-state.js';

export const readWriteRenew = `${readWriteState}
drop_expired()
local field = ARGV[3] .. ':' .. ARGV[1]
if redis.call('hexists', KEYS[1], field) == 0 then
  return 0
end
lease(field, tonumber(ARGV[2]))
return 1
`;
