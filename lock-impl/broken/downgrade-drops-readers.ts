/**
 * A read-write lock whose writer is gone from it when it stops writing, with what it reads: "an unlock ends the hold of its owner".
 *
 * A writer takes the lock to read as well, stops writing and reads on, as a downgrade is written. The lock is free by then, and
 * another client writes beside it.
 */
import { downgradableLock } from './downgradable-lock.js';

export default downgradableLock('broken/downgrade-drops-readers', "{field, 'read:' .. ARGV[1]}");
