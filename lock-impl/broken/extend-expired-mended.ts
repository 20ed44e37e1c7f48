/** The twin of `extend-expired`: extends only what is still its own. */
import { prolong } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/extend-expired-mended', { extend: prolong });
