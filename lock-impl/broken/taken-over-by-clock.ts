/**
 * Takes over what has ended by its own clock. The first recipe for locks on Redis stored when they end, and let each
 * client look whether that was past.
 *
 * A client whose clock is fast takes a lock whose lease still runs.
 */
import { CLIENTS_TIME, clockedLock } from './clocked-lock.js';

export default clockedLock('broken/taken-over-by-clock', CLIENTS_TIME);
