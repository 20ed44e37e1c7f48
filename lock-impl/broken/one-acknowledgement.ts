/**
 * Takes `WAIT 1` for safety. Production code adds it after a failover lost a lock, and stops there: "now it is replicated".
 *
 * Of two replicas one has the grant, and the other, which was stopped or cut off while the first acknowledged, is promoted:
 * it never heard of the lock, and gives it to the next client.
 */
import { acknowledgedLock } from './acknowledged-lock.js';

export default acknowledgedLock('broken/one-acknowledgement', 1);
