/** The twin of `reused-owner`: a value for each try. */
import { freshOwners, leaseLock } from './lease-lock.js';

export default leaseLock('broken/reused-owner-mended', { owners: freshOwners });
