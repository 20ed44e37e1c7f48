/** The twin of `fail-open`: what was not answered with a yes is no grant. */
import { take } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/fail-open-mended', { take });
