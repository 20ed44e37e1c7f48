/**
 * PostgreSQL's advisory lock of a session, on the primary: the server queues who waits, and frees it when the session ends.
 *
 * It promises exclusion as long as the server runs: these locks live in its memory, so a failover or a restart forgets them all.
 * A client that cannot keep its session alive is told `lost` before the server ends it; one that sleeps for longer is a stale
 * holder.
 */
import { advisoryLock } from './advisory.js';

export default advisoryLock({ name: 'pg-advisory', of: 'session' });
