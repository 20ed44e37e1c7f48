/**
 * `zk-lock` that takes any session for its own: one that has ended is replaced by a new one when it connects again, which is kept
 * alive in its stead, and nobody looks whether the node is still there.
 */
import { zooQueueLock } from './queue-lock.js';

export default zooQueueLock({ name: 'zk-no-session-check', findsItsOwn: true, checksSession: false });
