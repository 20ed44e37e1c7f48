/** PostgreSQL's advisory lock of a session, on the primary (`sessionLock`). */
import { advisoryLock } from './advisory.js';

export default advisoryLock({ name: 'pg-advisory', of: 'session' });
