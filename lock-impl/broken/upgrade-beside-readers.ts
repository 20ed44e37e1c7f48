/**
 * A read-write lock that lets a reader write because it holds already. Production code treats the upgrade as a nested lock:
 * "the owner is in, so let it".
 *
 * Two clients read, both decide to write, and both are let in: two writers, each of which read what the other is about to
 * overwrite. It needs clients that write under a read lock.
 */
import { upgradableLock } from './upgradable-lock.js';

export default upgradableLock('broken/upgrade-beside-readers', 'reads');
