/** The deployments that lock-torture can start. */
import type { TopologyKind } from '../api.js';
import { redlock, single } from './independent.js';
import { sentinel } from './sentinel.js';

export const topologies: Record<string, TopologyKind> = { single, sentinel, redlock };
