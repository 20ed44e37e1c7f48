/** What is known of a deployment before anything is started: which locks make sense on it, and what plans see of it. */
import { clientSlot } from '../../harness/run/run.js';
import type { TopologyKind, TopologyOptions } from '../../harness/vocabulary/topology.js';
import { locks } from '../../lock-impl/index.js';
import type { PlanTopology } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';

/** Throws where the lock is known to make no sense on the topology. */
export function checkPair(lockName: string, kind: TopologyKind): void {
  if (fitsTopology(lockName, kind)) return;
  const fits = locks[lockName]!.topologies;
  throw new UsageError(`lock ${lockName} makes no sense on topology ${kind.name}: it is for ${fits.join(', ')}`);
}

/** True for a lock that is not built in: what it is for only its handshake tells. */
export function fitsTopology(lockName: string, kind: TopologyKind): boolean {
  return locks[lockName]?.topologies.includes(kind.name) ?? true;
}

/** The deployment as plans see it. */
export function planTopology(kind: TopologyKind, options: TopologyOptions, clients: number): PlanTopology {
  const { nodes, sentinels } = kind.hosts(options);
  return {
    name: kind.name,
    replicated: kind.replicated,
    quorum: kind.quorum,
    plannedFailover: kind.plannedFailover,
    maxmemoryPolicy: options.maxmemoryPolicy,
    nodes,
    sentinels,
    clients: Array.from({ length: clients }, (_, n) => clientSlot(n)),
  };
}
