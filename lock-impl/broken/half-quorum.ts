/**
 * Redlock that is content with half of the nodes, rounded down. Production code writes `nodes.length / 2` for "the
 * majority", or configures a quorum of 2 when there were three nodes and then adds two.
 *
 * Of five nodes two are enough, so two clients that start at once each get their two or three.
 */
import { redlockWithQuorum } from '../redlock.js';

export default redlockWithQuorum('broken/half-quorum', (nodes) => Math.floor(nodes / 2));
