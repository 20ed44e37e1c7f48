/** The twin of `permit-returned-twice`: each permit has a name and a lease, and the second return finds none of that name. */
import { guardedSemaphore } from './guarded-semaphore.js';
import { acquirePermit, namedPermits } from './permits-from-scripts.js';

export default guardedSemaphore('broken/permit-returned-twice-mended', {
  acquire: (access, redis, key, options) => acquirePermit(access, redis, namedPermits, key, options),
  deadline: namedPermits.deadline,
});
