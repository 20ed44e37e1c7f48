/** The twin of `node-skipped`: every node must have granted, so while one is away nobody is granted the lock. */
import { everyNode } from './every-node.js';

export default everyNode('broken/node-skipped-mended', (nodes) => nodes);
