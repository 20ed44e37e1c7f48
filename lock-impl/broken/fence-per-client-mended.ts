/** The twin of `fence-per-client`: one counter beside the lock, counted in the script that takes it. */
import { companionKey } from '../keys.js';
import { takeWithToken } from '../scripts/take-with-token.js';
import { tokenedLock } from './tokened-lock.js';

export default tokenedLock('broken/fence-per-client-mended', () => async ({ redis, key, owner }, leaseMs) => {
  const counter = companionKey(key, 'fence');
  return Number(await redis.eval(takeWithToken, 2, key, counter, owner, leaseMs));
});
