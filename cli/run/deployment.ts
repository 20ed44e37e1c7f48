/** What is known of a deployment before anything is started: which locks make sense on it, and what plans see of it. */
import { clientSlot } from '../../harness/run/run.js';
import type { Capability } from '../../harness/vocabulary/host.js';
import type { TopologyKind, TopologyOptions } from '../../harness/vocabulary/topology.js';
import { externalLock } from '../../lock-impl/external/index.js';
import { builtinLock } from '../../lock-impl/index.js';
import type { PlanTopology } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';

/** Throws where the lock is known to make no sense on the topology. */
export function checkPair(lockName: string, kind: TopologyKind): void {
  const fits = topologiesOf(lockName);
  if (!fits || fits.includes(kind.name)) return;
  throw new UsageError(`lock ${lockName} makes no sense on topology ${kind.name}: it is for ${fits.join(', ')}`);
}

/** True for a lock that is not built in: what it is for only its handshake tells. */
export function fitsTopology(lockName: string, kind: TopologyKind): boolean {
  return topologiesOf(lockName)?.includes(kind.name) ?? true;
}

/** What faults may need and cannot be had: of this machine, of the service, or because of how its servers are set up. */
export function lackingOf(
  kind: TopologyKind,
  { tls }: TopologyOptions,
  machine: Partial<Record<Capability, string>>,
): Partial<Record<Capability, string>> {
  return { ...machine, ...kind.unavailable, ...(tls && { answers: UNREADABLE }) };
}

const UNREADABLE = 'with --tls nobody can read on its way which answer a server gives: leave out --tls';

/** Throws where the client of a lock is known to speak in plain text only. */
export function checkTls(lockName: string): void {
  const external = externalLock(lockName);
  if (!external || external.project.speaksTls) return;
  throw new UsageError(`lock ${lockName} cannot be run with --tls: its ${external.project.what} connect in plain text`);
}

/** Absent: it is not built in. */
export function topologiesOf(lockName: string): readonly string[] | undefined {
  return (builtinLock(lockName) ?? externalLock(lockName))?.topologies;
}

/** The deployment as plans see it. */
export function planTopology(kind: TopologyKind, options: TopologyOptions, clients: number): PlanTopology {
  const { nodes, sentinels } = kind.hosts(options);
  return {
    name: kind.name,
    service: kind.service,
    defaultFaults: kind.defaultFaults,
    replicated: kind.replicated,
    quorum: kind.quorum,
    plannedFailover: kind.plannedFailover,
    maxmemoryPolicy: options.maxmemoryPolicy,
    nodes,
    sentinels,
    clients: Array.from({ length: clients }, (_, n) => clientSlot(n)),
  };
}
