/** The twin of `queue-jumper`: no fast path. */
import { queueLock } from './queue-lock.js';

export default queueLock('broken/queue-jumper-mended', {});
