/**
 * Counts fencing tokens where the lock is used. Production code has `this.token += 1` in the client, or a counter on each of
 * several nodes, and takes numbers that rise for numbers that rise *together*.
 *
 * Every process begins anew. The one that has run for a week has token 9,000 and is paused; one that was just started gets the
 * lock with token 1, and the resource, which has seen 9,000, refuses the holder and takes the stale one when it wakes.
 */
import { take } from '../owned-key.js';
import { tokenedLock } from './tokened-lock.js';

export default tokenedLock('broken/fence-per-client', () => {
  let token = 0;
  return async (mine, leaseMs) => {
    if (!(await take(mine, leaseMs))) return 0;
    token += 1;
    return token;
  };
});
