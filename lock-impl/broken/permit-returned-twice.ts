/**
 * Returns a permit twice: once when the work is done, and once when its time is over. Production code has a time-out beside
 * the `finally`, and the time-out is never cancelled.
 *
 * Permits of a plain semaphore have no owner: every return makes one more. One lease after the first release there are three
 * permits of two, and more with each.
 */
import { Semaphore } from '../semaphore.js';
import { guardedSemaphore } from './guarded-semaphore.js';
import { PERMITS } from './permits-from-scripts.js';

export default guardedSemaphore('broken/permit-returned-twice', {
  acquire: (access, redis, key, options) => new Semaphore(access, { redis, key, permits: PERMITS }).acquire(options),
  deadline: 'never',
});
