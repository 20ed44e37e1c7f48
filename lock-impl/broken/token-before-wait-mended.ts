/** The twin of `token-before-wait`: the token is drawn in the script that takes the lock. */
import { companionKey } from '../keys.js';
import { takeWithToken } from '../scripts/take-with-token.js';
import { tokenedLock } from './tokened-lock.js';

export default tokenedLock(
  'broken/token-before-wait-mended',
  () =>
    async ({ redis, key, owner }, leaseMs) =>
      Number(await redis.eval(takeWithToken, 2, key, companionKey(key, 'fence'), owner, leaseMs)),
);
