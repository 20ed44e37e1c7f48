/**
 * Data nodes that know nothing of each other: one of them (`single`), or N for a Redlock (`redlock`).
 */
import type {
  Endpoint,
  RedisNode,
  Setting,
  Topology,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
  TopologyOptions,
} from '../api.js';
import { notAnswering, startedOrThrow } from './ready.js';
import { persistenceConfig, REDIS_PORT, RedisServer, userConfig } from './redis-server.js';

export const single: TopologyKind = {
  name: 'single',
  summary: 'one Redis server',
  defaultLock: 'set-nx-px',
  replicated: false,
  hosts: () => ({ nodes: ['r1'], sentinels: [] }),
  start: (hosts, options, context) =>
    startIndependent('single', hosts, options, context, (nodes) => ({ kind: 'single', node: nodes[0]! })),
};

export const redlock: TopologyKind = {
  name: 'redlock',
  summary: 'N independent masters (--nodes, 5 by default), no replication',
  defaultLock: 'redlock',
  replicated: false,
  hosts: (options) => ({ nodes: Array.from({ length: options.nodes }, (_, n) => `r${n + 1}`), sentinels: [] }),
  start: (hosts, options, context) =>
    startIndependent('redlock', hosts, options, context, (nodes) => ({ kind: 'redlock', nodes })),
};

async function startIndependent(
  name: string,
  hosts: Parameters<TopologyKind['start']>[0],
  options: TopologyOptions,
  context: TopologyContext,
  describe: (endpoints: Endpoint[]) => TopologyDescription,
): Promise<Topology> {
  const config = [...persistenceConfig(options.persistence), ...userConfig(options.redisConf)];
  const nodes = hosts.map(
    (host) =>
      new RedisServer({ kind: 'redis', host, port: REDIS_PORT, config, redis: context.redis, clock: context.clock }),
  );
  await Promise.all(nodes.map((node) => node.start()));
  const topology: Topology = {
    name,
    nodes,
    sentinels: [],
    settings: dataSettings(options),
    replicated: false,
    describe: () => describe(nodes.map(endpoint)),
    // With a single node there is no question who is the primary; independent masters have none.
    primary: async () => (nodes.length === 1 && (await notAnswering(nodes)).length === 0 ? nodes[0] : undefined),
    missing: () => notAnswering(nodes),
    [Symbol.asyncDispose]: () => killAll(nodes),
  };
  return startedOrThrow(topology, context.clock, context.readyTimeoutMs);
}

export function endpoint(node: RedisNode): Endpoint {
  return { name: node.name, host: node.host.address, port: node.port };
}

/** SIGKILL is enough: nobody needs what the servers would still write. */
export async function killAll(nodes: readonly RedisServer[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()));
}

export function dataSettings(options: TopologyOptions): Setting[] {
  const given = options.redisConf.map(([name, value]) => ({ where: 'redis', name, value, why: '--redis-conf' }));
  return [{ where: 'redis', name: 'persistence', value: options.persistence, why: '--persistence' }, ...given];
}
