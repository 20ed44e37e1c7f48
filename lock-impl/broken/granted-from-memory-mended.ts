/** The twin of `granted-from-memory`: it asks the server each time. */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/granted-from-memory-mended', {});
