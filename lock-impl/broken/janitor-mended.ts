/** The twin of `janitor`: asks the list that all clients keep, in the script that removes. */
import { sweptLock } from './swept-lock.js';

/**
 * KEYS[1]  the lock
 * KEYS[2]  the owners that hold: a set
 */
const removeOrphan = `
local owner = redis.call('get', KEYS[1])
if owner and redis.call('sismember', KEYS[2], owner) == 0 then
  redis.call('del', KEYS[1])
end
`;

export default sweptLock('broken/janitor-mended', async ({ redis, key, list }) => {
  await redis.eval(removeOrphan, 2, key, list);
});
