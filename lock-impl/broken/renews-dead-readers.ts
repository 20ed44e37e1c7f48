/**
 * A watchdog that renews whoever is in the lock. The field of a reader that died is one of them. The idea is from
 * redisson/redisson#7098.
 *
 * A reader dies, and as long as others that have read live on no client ever writes again.
 */
import { readWriteState } from '../scripts/read-write-state.js';
import { readersLock } from './readers-lock.js';

/**
 * KEYS[1], KEYS[2]  see scripts/read-write-state.ts
 * ARGV[1]           the lease in milliseconds
 *
 * Returns how many hold it.
 */
const renewAll = `${readWriteState}
drop_expired()
local fields = redis.call('zrange', KEYS[2], 0, -1)
for _, field in ipairs(fields) do
  lease(field, tonumber(ARGV[1]))
end
return #fields
`;

export default readersLock(
  'broken/renews-dead-readers',
  async (redis, keys, _, leaseMs) => Number(await redis.eval(renewAll, 2, ...keys, leaseMs)) > 0,
);
