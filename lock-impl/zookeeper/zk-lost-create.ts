/**
 * `zk-lock` that makes another node when it has not heard whether the first was made. That one is before its own, and lives as long
 * as its session: nobody ever gets the lock.
 */
import { zooQueueLock } from './queue-lock.js';

export default zooQueueLock({ name: 'zk-lost-create', findsItsOwn: false, checksSession: true });
