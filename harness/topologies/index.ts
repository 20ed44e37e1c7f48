/** The deployments that lock-torture can start. */
import type { TopologyKind } from '../vocabulary/topology.js';
import { cluster } from './cluster.js';
import { redlock, single } from './independent.js';
import { replica } from './replica.js';
import { sentinel } from './sentinel.js';

export const topologies: Record<string, TopologyKind> = { single, replica, sentinel, cluster, redlock };
