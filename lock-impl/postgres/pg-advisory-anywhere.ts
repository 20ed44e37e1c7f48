/**
 * `pg-advisory` on any server, as where clients are balanced over primary and replicas: a replica grants such locks, too, and no
 * server knows of another's.
 */
import { advisoryLock } from './advisory.js';

export default advisoryLock({
  name: 'pg-advisory-anywhere',
  of: 'session',
  topologies: ['postgres', 'postgres-sync'],
  server: ({ description, random }) => {
    const nodes = 'nodes' in description ? description.nodes : [];
    return nodes[random.int(0, nodes.length - 1)]!;
  },
});
