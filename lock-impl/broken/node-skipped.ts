/**
 * A lock of one part on each node that passes over a node that does not answer: "it is down, so nobody else can have its part".
 *
 * Two clients that are cut off from different nodes each have all the parts that they can reach, and both hold.
 */
import { everyNode } from './every-node.js';

export default everyNode('broken/node-skipped', () => 1);
