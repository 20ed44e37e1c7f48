/** The deployments that lock-torture can start. */
import type { ServiceName, TopologyKind } from '../vocabulary/topology.js';
import { services } from './services.js';

/** By their names in records, which are unlike those of any other service's. */
export const topologies: Record<string, TopologyKind> = Object.fromEntries(
  Object.values(services).flatMap((service) => Object.values(service.topologies).map((kind) => [kind.name, kind])),
);

/** Names of those of one service. */
export function topologiesOfService(service: ServiceName): string[] {
  return Object.values(services[service].topologies).map((kind) => kind.name);
}

/** What one is called among those of its service, as `--topology` takes it; `name`: in records. */
export function nameInService(name: string): string {
  const kind = topologies[name]!;
  return Object.entries(services[kind.service].topologies).find(([, one]) => one === kind)![0];
}
