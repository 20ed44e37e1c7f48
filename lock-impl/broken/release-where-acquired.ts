/**
 * Redlock whose failed tries give back only what they know that they got. Production code keeps a list of the nodes that said
 * OK, and undoes that list.
 *
 * A node carries the SET out and its answer is lost, or comes too late: it stays taken for a whole lease by somebody who does not hold. A few
 * such tries, at a lossy network, keep a majority taken, and no client gets the lock.
 */
import { redlockFromParts } from './redlock-from-parts.js';

/** Short beside the lease, as the algorithm asks for: a slow node is to be passed over. */
export const PATIENCE_MS = 50;

export default redlockFromParts('broken/release-where-acquired', {
  patienceMs: PATIENCE_MS,
  toGiveBack: (_asked, granted) => granted,
});
