/**
 * ZooKeeper's recipe: an ephemeral node below the key's, which the server numbers (`EPHEMERAL_SEQUENTIAL`); the lowest number
 * holds. It goes with its session, which is kept alive in the background every third of it by a write to the node itself. The
 * change that made the node (its czxid) is the fencing token.
 *
 * It promises exclusion as long as a majority keeps what it has stored, rising tokens, that a node whose making was not answered
 * is found again by its name and leaves nobody waiting, and that a client is told `lost` when its session is over. One that
 * sleeps for longer than its session is a stale holder.
 */
import { zooQueueLock } from './queue-lock.js';

export default zooQueueLock({ name: 'zk-lock', findsItsOwn: true, checksSession: true });
