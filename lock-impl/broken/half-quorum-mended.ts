/** The twin of `half-quorum`: more than half of the nodes. */
import { redlockWithQuorum } from '../redlock.js';

export default redlockWithQuorum('broken/half-quorum-mended', (nodes) => Math.floor(nodes / 2) + 1);
