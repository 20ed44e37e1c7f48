/** As `pg-advisory`, but of a transaction that is open for as long as the lock is held: its end, by whatever, frees the lock. */
import { advisoryLock } from './advisory.js';

export default advisoryLock({ name: 'pg-advisory-xact', of: 'transaction' });
