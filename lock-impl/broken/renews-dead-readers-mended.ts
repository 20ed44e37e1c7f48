/** The twin of `renews-dead-readers`: renews what is its own. */
import { readWriteRenew } from '../scripts/read-write-renew.js';
import { readersLock } from './readers-lock.js';

export default readersLock('broken/renews-dead-readers-mended', async (redis, keys, owner, leaseMs) => {
  const renew = async (mode: string) => (await redis.eval(readWriteRenew, 2, ...keys, owner, leaseMs, mode)) === 1;
  const reads = await renew('read');
  return (await renew('write')) || reads;
});
