/**
 * The owner is the process id. On the machine of a developer that is different for every process; in containers the program
 * is started by the same steps in each, and has the same number in all of them.
 *
 * Each client finds "its own" owner in the key and is in at once, and each release frees the lock of all. See `shared-owner`,
 * where it is written down.
 */
import { retriableLock } from './retriable-lock.js';

export default retriableLock('broken/pid-owner', () => String(process.pid));
