/** The twin of `half-quorum`: more than half of the nodes. */
import { redlock } from '../redlock.js';

export default redlock('broken/half-quorum-mended', (nodes) => Math.floor(nodes / 2) + 1);
