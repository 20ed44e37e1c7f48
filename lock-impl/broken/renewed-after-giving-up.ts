/**
 * Begins to renew whenever a grant comes, also when its caller has been refused and has gone: nothing orders the two. The
 * idea is from redisson/redisson#7272.
 *
 * One answer that comes too late, and the lock is renewed for as long as that process lives, though no client holds it.
 */
import { impatientLock } from './impatient-lock.js';

export default impatientLock('broken/renewed-after-giving-up', {});
