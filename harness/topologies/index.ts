/** The deployments that lock-torture can start. */
import type { ServiceName, TopologyKind } from '../vocabulary/topology.js';
import { cluster } from './cluster.js';
import { etcdQuorum, etcdSingle } from './etcd/etcd.js';
import { redlock, single } from './independent.js';
import { replica } from './replica.js';
import { sentinel } from './sentinel.js';

export const topologies: Record<string, TopologyKind> = {
  single,
  replica,
  sentinel,
  cluster,
  redlock,
  etcd: etcdQuorum,
  'etcd-single': etcdSingle,
};

/** Names of those of one service. */
export function topologiesOfService(service: ServiceName): string[] {
  return Object.values(topologies).flatMap((kind) => (kind.service === service ? [kind.name] : []));
}
