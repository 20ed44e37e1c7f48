/** The twin of `refusal-ignored`: looks at what SET NX answered. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/refusal-ignored-mended', {});
