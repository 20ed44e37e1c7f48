/**
 * Waits for its replicas by WAIT and does not look at what that answers: WAIT fails by a number that is too small, and not by
 * an error. The idea is from redisson/redisson#3994.
 *
 * It is granted what no replica has, only later; the replica that is promoted gives the lock to the next client.
 */
import { acknowledgedLock } from './acknowledged-lock.js';

export default acknowledgedLock('broken/wait-unchecked', 2, () => true);
