/**
 * Draws its fencing token first and waits for the lock then. Production code has the number at hand before it loops, because
 * the row or the log line that it writes anyway carries it.
 *
 * c1 draws 5 and waits; c2 draws 6, is granted first, and writes. c1 is granted at last, with 5: the resource has seen 6 and
 * refuses the one lawful holder there is.
 */
import { companionKey } from '../keys.js';
import { take } from '../owned-key.js';
import { tokenedLock } from './tokened-lock.js';

export default tokenedLock('broken/token-before-wait', () => {
  const drawn = new Map<string, number>();
  return async (mine, leaseMs) => {
    const { redis, key } = mine;
    const token = drawn.get(key) ?? (await redis.incr(companionKey(key, 'fence')));
    drawn.set(key, token);
    if (!(await take(mine, leaseMs))) return 0;
    drawn.delete(key);
    return token;
  };
});
