/**
 * N independent nodes for a Redlock, each of which is a primary with a replica, watched by a Sentinel of its own: what a node
 * is to clients survives its server. Nodes know nothing of each other, and neither do their Sentinels.
 *
 * One Sentinel a node decides alone: what is to be seen is what a failover loses, not who votes for it.
 */
import type { Topology, TopologyContext, TopologyKind, TopologyOptions } from '../vocabulary/topology.js';
import { accessOf, dataSettings } from './data-node.js';
import { endpoint, killAll } from './independent.js';
import { replicatedNodesOutlook } from './outlooks.js';
import { startedOrThrow } from './ready.js';
import { oneShard } from './replication.js';
import {
  agreedPrimary,
  EXPECTED_FAILOVER_MS,
  type SentinelGroup,
  sentinelSettings,
  startGroup,
  whatIsMissing,
} from './sentinel.js';

/** Of the nth node: its first primary, whose name is the node's own, its replica, its Sentinel. */
const NAMES = ({ nodes }: Pick<TopologyOptions, 'nodes'>) =>
  Array.from({ length: nodes }, (_, n) => ({ node: `r${n + 1}`, replica: `r${n + 1}b`, sentinel: `s${n + 1}` }));

export const redlockSentinel: TopologyKind = {
  name: 'redlock-sentinel',
  service: 'redis',
  summary: 'N independent nodes (--nodes, 5 by default), each a primary with a replica and a Sentinel of its own',
  defaultLock: 'redlock',
  replicated: true,
  outlook: replicatedNodesOutlook,
  quorum: 'majority',
  expectedFailoverMs: EXPECTED_FAILOVER_MS,
  hosts: (options) => ({
    nodes: NAMES(options).flatMap(({ node, replica }) => [node, replica]),
    sentinels: NAMES(options).map(({ sentinel }) => sentinel),
    managers: [],
  }),
  async start(hosts, options, context) {
    const named = (name: string) => hosts.find((host) => host.name === name)!;
    const groups = await Promise.all(
      NAMES(options).map(({ node, replica, sentinel }) =>
        startGroup(
          { masterName: node, nodes: [named(node), named(replica)], sentinels: [named(sentinel)] },
          options,
          context,
        ),
      ),
    );
    return startedOrThrow(topologyOf(groups, options, context), context.clock, context.readyTimeoutMs);
  },
};

function topologyOf(groups: readonly SentinelGroup[], options: TopologyOptions, context: TopologyContext): Topology {
  const nodes = groups.flatMap((group) => group.nodes);
  const sentinels = groups.flatMap((group) => group.sentinels);
  const each = async <T>(ask: (group: SentinelGroup) => Promise<T>) => Promise.all(groups.map(ask));
  return {
    name: 'redlock-sentinel',
    nodes,
    sentinels,
    watchers: sentinels.map(({ host }) => host),
    settings: [...dataSettings(options), ...sentinelSettings(groups[0]!)],
    replicated: true,
    quorum: {
      kind: 'majority',
      nodes: groups.map(({ masterName }) => masterName),
      majority: Math.floor(groups.length / 2) + 1,
      servers: groups.map((group) => group.nodes.map(({ name }) => name)),
    },
    replacedPrimary: 'keeps',
    describe: () => ({
      kind: 'redlock-sentinel',
      nodes: groups.map((group) => ({ masterName: group.masterName, sentinels: group.sentinels.map(endpoint) })),
      ...accessOf(options, context),
    }),
    shards: async () => {
      const primaries = await each(agreedPrimary);
      return primaries.flatMap((primary, n) => (primary ? [oneShard(primary, groups[n]!.nodes)] : []));
    },
    missing: async () => (await each(whatIsMissing)).flat(),
    [Symbol.asyncDispose]: () => killAll([...nodes, ...sentinels]),
  };
}
