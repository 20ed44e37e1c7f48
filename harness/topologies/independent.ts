/**
 * Data nodes that know nothing of each other: one of them (`single`), or N for a Redlock (`redlock`).
 */
import type {
  Endpoint,
  Quorum,
  ServerNode,
  Topology,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { accessOf, dataNode, dataSettings } from './data-node.js';
import { aloneOutlook, independentOutlook } from './outlooks.js';
import { notAnswering, startedOrThrow } from './ready.js';
import type { RedisServer } from './redis-server.js';

export const single: TopologyKind = {
  name: 'single',
  service: 'redis',
  summary: 'one Redis server',
  defaultLock: 'set-nx-px',
  // Nothing has to outlast a failover here, and in as much time more leases end, are renewed, and are slept past. Not whole seconds.
  mixedLeaseMs: 2_300,
  replicated: false,
  outlook: aloneOutlook,
  quorum: 'primary',
  hosts: () => ({ nodes: ['r1'], sentinels: [], managers: [] }),
  start: (hosts, options, context) =>
    startIndependent('single', hosts, options, context, {
      quorum: () => ({ kind: 'primary' }),
      describe: (nodes) => ({ kind: 'single', node: nodes[0]! }),
    }),
};

export const redlock: TopologyKind = {
  name: 'redlock',
  service: 'redis',
  summary: 'N independent masters (--nodes, 5 by default), no replication',
  defaultLock: 'redlock',
  replicated: false,
  outlook: independentOutlook,
  quorum: 'majority',
  hosts: (options) => ({
    nodes: Array.from({ length: options.nodes }, (_, n) => `r${n + 1}`),
    sentinels: [],
    managers: [],
  }),
  start: (hosts, options, context) =>
    startIndependent('redlock', hosts, options, context, {
      quorum: (nodes) => ({ kind: 'majority', nodes, majority: Math.floor(nodes.length / 2) + 1 }),
      describe: (nodes) => ({ kind: 'redlock', nodes }),
    }),
};

async function startIndependent(
  name: string,
  hosts: Parameters<TopologyKind['start']>[0],
  options: TopologyOptions,
  context: TopologyContext,
  is: { quorum(names: string[]): Quorum; describe(endpoints: Endpoint[]): TopologyDescription },
): Promise<Topology> {
  const nodes = hosts.map((host) => dataNode(host, options, context));
  await Promise.all(nodes.map((node) => node.start()));
  const topology: Topology = {
    name,
    nodes,
    sentinels: [],
    watchers: [],
    settings: dataSettings(options),
    replicated: false,
    quorum: is.quorum(nodes.map((node) => node.name)),
    replacedPrimary: 'keeps',
    describe: () => ({ ...is.describe(nodes.map(endpoint)), ...accessOf(options, context) }),
    // With a single node there is no question who is the primary; independent masters have none.
    shards: async () => {
      const alone = nodes.length === 1 && (await notAnswering(nodes)).length === 0;
      return alone ? [{ primary: nodes[0]!, replicas: [], serves: () => true }] : [];
    },
    missing: () => notAnswering(nodes),
    [Symbol.asyncDispose]: () => killAll(nodes),
  };
  return startedOrThrow(topology, context.clock, context.readyTimeoutMs);
}

export function endpoint(node: ServerNode): Endpoint {
  return { name: node.name, host: node.host.address, port: node.port };
}

/** SIGKILL is enough: what the servers would still write is not needed. */
export async function killAll(nodes: readonly RedisServer[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()));
}
