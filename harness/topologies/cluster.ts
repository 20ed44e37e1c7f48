/**
 * Redis Cluster: three primaries that share the slots among them, each with one replica. Nodes find a dead primary and
 * elect its replica by themselves; clients are redirected to where a key lives.
 *
 * `cluster-node-timeout` is shortened so that a failover takes seconds; everything else is as Redis has it, so while a
 * third of the slots has no primary the whole Cluster refuses (`cluster-require-full-coverage yes`), and a primary that
 * is cut off from the majority refuses, too. None of it changes what a failover can lose.
 */
import { isDeepStrictEqual } from 'node:util';
import calculateSlot from 'cluster-key-slot';
import type { Host } from '../vocabulary/host.js';
import type { SlotView } from '../vocabulary/slots.js';
import type { Clock } from '../vocabulary/time.js';
import type {
  ServerNode,
  Setting,
  Shard,
  Topology,
  TopologyContext,
  TopologyKind,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { type ClusterMember, countOf, ownerOf, parseClusterNodes, type SlotRange } from './cluster-nodes.js';
import { accessOf, dataNode, dataSettings } from './data-node.js';
import { endpoint, killAll } from './independent.js';
import { replicatedOutlook } from './outlooks.js';
import { DeploymentError, notAnswering, startedOrThrow } from './ready.js';
import type { RedisServer } from './redis-server.js';
import { REPLICATION, REPLICATION_SETTINGS, replicaTrouble } from './replication.js';

const NODE_TIMEOUT_MS = 500;
const EXPECTED_FAILOVER_MS = 1_650;
const POLL_MS = 10;

const SLOTS = 16_384;
/**
 * Each primary serves every third twelfth of the slots, as one does in a Cluster that has been rebalanced. That way the
 * locks that a run has by default (`lock:0`, `lock:1`, ...) share a primary: a failover loses what one primary granted,
 * and with a single lock on each there would be little to lose.
 */
const PARTS = 12;
/** A shard of two stays as it is: Redis moves replicas only from shards that have one to spare. */
const SHARDS: readonly { slots: readonly SlotRange[]; nodes: readonly [string, string] }[] = [
  { slots: everyThirdPart(2), nodes: ['r1', 'r4'] },
  { slots: everyThirdPart(0), nodes: ['r2', 'r5'] },
  { slots: everyThirdPart(1), nodes: ['r3', 'r6'] },
];
const NODES = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'];

export const cluster: TopologyKind = {
  name: 'cluster',
  service: 'redis',
  summary: 'Redis Cluster: three primaries with a replica each',
  defaultLock: 'set-nx-px',
  replicated: true,
  outlook: replicatedOutlook('cluster'),
  quorum: 'primary',
  plannedFailover: 'replica',
  expectedFailoverMs: EXPECTED_FAILOVER_MS,
  hosts: () => ({ nodes: NODES, sentinels: [], managers: [] }),
  async start(hosts, options, context) {
    const nodes = hosts.map((host) =>
      dataNode(host, options, context, clusterConfig(host, options), { clusterNode: true }),
    );
    try {
      await Promise.all(nodes.map((node) => node.start()));
      await join(nodes, context.clock, context.readyTimeoutMs);
    } catch (error) {
      await killAll(nodes);
      throw error;
    }
    return startedOrThrow(clusterTopology(nodes, options, context), context.clock, context.readyTimeoutMs);
  },
};

function clusterTopology(nodes: RedisServer[], options: TopologyOptions, context: TopologyContext): Topology {
  return {
    name: 'cluster',
    nodes,
    sentinels: [],
    watchers: [],
    settings: [...dataSettings(options), ...SETTINGS],
    replicated: true,
    quorum: { kind: 'primary' },
    replacedPrimary: 'leave',
    slots: { of: calculateSlot, view: slotView },
    describe: () => ({ kind: 'cluster', nodes: nodes.map(endpoint), ...accessOf(options, context) }),
    shards: () => agreedShards(nodes),
    missing: () => whatIsMissing(nodes),
    [Symbol.asyncDispose]: () => killAll(nodes),
  };
}

/** Makes one Cluster of servers that have only just started. */
async function join(nodes: readonly ServerNode[], clock: Clock, timeoutMs: number): Promise<void> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  // Epochs that differ from the first: two primaries with the same one have to settle it between them.
  await Promise.all(nodes.map((node, n) => node.command('CLUSTER', 'SET-CONFIG-EPOCH', n + 1)));
  await Promise.all(
    SHARDS.map((shard) => byName.get(shard.nodes[0])!.command('CLUSTER', 'ADDSLOTS', ...shard.slots.flatMap(each))),
  );
  // Everybody meets everybody: by gossip alone they would know each other only after some rounds.
  await Promise.all(
    nodes.flatMap((node, n) =>
      nodes.slice(n + 1).map((other) => node.command('CLUSTER', 'MEET', other.host.address, other.port)),
    ),
  );
  const giveUpNs = clock.nowNs() + timeoutMs * 1e6;
  await Promise.all(
    SHARDS.map(async ({ nodes: [primary, replica] }) => {
      const id = String(await byName.get(primary)!.command('CLUSTER', 'MYID'));
      await replicate(byName.get(replica)!, { name: primary, id }, clock, giveUpNs);
    }),
  );
}

/** A node that has not heard of its primary yet refuses. */
async function replicate(
  node: ServerNode,
  primary: { name: string; id: string },
  clock: Clock,
  giveUpNs: number,
): Promise<void> {
  for (;;) {
    try {
      await node.command('CLUSTER', 'REPLICATE', primary.id);
      return;
    } catch (error) {
      if (clock.nowNs() > giveUpNs) {
        throw new DeploymentError(
          `${node.name} did not become a replica of ${primary.name}: ${(error as Error).message}`,
        );
      }
      await clock.sleep(POLL_MS);
    }
  }
}

function everyThirdPart(first: number): SlotRange[] {
  const bound = (part: number) => Math.floor((part * SLOTS) / PARTS);
  return [0, 3, 6, 9].map((n) => ({ from: bound(first + n), to: bound(first + n + 1) - 1 }));
}

function each({ from, to }: SlotRange): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

interface View {
  node: ServerNode;
  members: ClusterMember[];
}

/** What every node that could be asked believes. */
async function askAll(nodes: readonly ServerNode[]): Promise<View[]> {
  const answers = await Promise.all(
    nodes.map(async (node) => {
      const reply = await node.command('CLUSTER', 'NODES').catch(() => undefined);
      return reply === undefined ? [] : [{ node, members: parseClusterNodes(String(reply)) }];
    }),
  );
  return answers.flat();
}

/**
 * A shard is a pair of nodes, whatever slots it has by now. It counts when a majority of those who could be asked name the
 * same one of the two as owner of slots, which itself says that it is a primary: one that was cut off and replaced still
 * names itself, and is outvoted.
 */
async function agreedShards(nodes: readonly ServerNode[]): Promise<Shard[]> {
  const views = await askAll(nodes);
  const most = (agree: (members: readonly ClusterMember[]) => boolean) =>
    views.filter(({ members }) => agree(members)).length > views.length / 2;
  const found = await Promise.all(
    SHARDS.map(async ({ nodes: names }): Promise<Shard[]> => {
      const pair = nodes.filter(({ name }) => names.includes(name));
      const primary = pair.find((node) => most((members) => ownerAmong(pair, members) === node.host.address));
      if (!primary) return [];
      const role = await primary.command('ROLE').catch(() => undefined);
      if (!Array.isArray(role) || role[0] !== 'master') return [];
      const { address } = primary.host;
      return [
        {
          primary,
          replicas: pair.filter((node) => node !== primary),
          serves: (key) => most((members) => ownerOf(calculateSlot(key), members)?.address === address),
        },
      ];
    }),
  );
  return found.flat();
}

async function slotView(node: ServerNode): Promise<SlotView> {
  const members = parseClusterNodes(String(await node.command('CLUSTER', 'NODES')));
  const { id, moving } = members.find(({ flags }) => flags.has('myself'))!;
  return { id, moving, ownerOf: (slot) => ownerOf(slot, members)?.address };
}

/** The address of the one of these that has most slots, in this view. */
function ownerAmong(nodes: readonly ServerNode[], members: readonly ClusterMember[]): string | undefined {
  const owners = members.filter(
    ({ address, slots }) => slots.length > 0 && nodes.some(({ host }) => host.address === address),
  );
  return owners.toSorted((a, b) => countOf(b.slots) - countOf(a.slots))[0]?.address;
}

async function whatIsMissing(nodes: readonly ServerNode[]): Promise<string[]> {
  const silent = await notAnswering(nodes);
  if (silent.length > 0) return silent;
  const shards = await agreedShards(nodes);
  if (shards.length < SHARDS.length)
    return [`${SHARDS.length - shards.length} of ${SHARDS.length} shards without a primary on which the nodes agree`];
  const perNode = nodes.map((node) => viewTrouble(node, nodes, shards));
  const perReplica = shards.flatMap(({ primary, replicas }) => replicas.map((node) => replicaTrouble(node, primary)));
  const views = await askAll(nodes);
  const troubles = [
    ...(await Promise.all([...perNode, ...perReplica])),
    ...views.map((view) => slotTrouble(view, views[0]!)),
  ];
  return troubles.filter((trouble) => trouble !== undefined);
}

/** A slot that has moved is not known to everybody at once. */
function slotTrouble({ node, members }: View, first: View): string | undefined {
  const owned = members.reduce((sum, { slots }) => sum + countOf(slots), 0);
  if (owned !== SLOTS) return `${node.name} knows the owners of ${owned} slots, of ${SLOTS}`;
  const isSame = members.every(({ id, slots }) =>
    isDeepStrictEqual(slots, first.members.find((other) => other.id === id)?.slots),
  );
  return isSame ? undefined : `${node.name} and ${first.node.name} name different owners of some slots`;
}

/** In what a node's own view differs from what all should see. */
async function viewTrouble(
  node: ServerNode,
  nodes: readonly ServerNode[],
  shards: readonly Shard[],
): Promise<string | undefined> {
  let info: string;
  let members: ClusterMember[];
  try {
    info = String(await node.command('CLUSTER', 'INFO'));
    members = parseClusterNodes(String(await node.command('CLUSTER', 'NODES')));
  } catch (error) {
    return `${node.name}: ${(error as Error).message}`;
  }
  for (const other of nodes) {
    const member = members.find(({ address }) => address === other.host.address);
    if (!member) return `${node.name} does not know ${other.name}`;
    const seen = [...member.flags].filter((flag) => !['myself', 'master', 'slave'].includes(flag));
    if (seen.length > 0) return `${node.name} sees ${other.name} as "${seen.join(',')}"`;
    if (!member.linked) return `${node.name} is not connected to ${other.name}`;
    const shard = shards.find(({ primary, replicas }) => primary === other || replicas.includes(other));
    const wanted = shard?.primary === other ? 'master' : 'slave';
    if (!member.flags.has(wanted)) return `${node.name} does not see ${other.name} as a ${wanted} yet`;
  }
  const open = members.flatMap(({ moving }) => moving.map(({ slot }) => slot));
  if (open.length > 0) return `${node.name} has slots on their way: ${open.join(', ')}`;
  if (members.length !== nodes.length) return `${node.name} knows ${members.length} nodes, of ${nodes.length}`;
  const state = /cluster_state:(\w+)/.exec(info)?.[1];
  return state === 'ok' ? undefined : `${node.name} says cluster_state:${state}`;
}

function clusterConfig(host: Host, { tls }: TopologyOptions): string[] {
  return [
    ...REPLICATION,
    'cluster-enabled yes',
    'cluster-config-file nodes.conf',
    `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
    `cluster-announce-ip ${host.address}`,
    ...(tls ? ['tls-cluster yes'] : []),
  ];
}

const SETTINGS: Setting[] = [
  ...REPLICATION_SETTINGS,
  {
    where: 'redis',
    name: 'cluster-node-timeout',
    value: String(NODE_TIMEOUT_MS),
    why: 'failover in about 1.6 s (default 15000); a primary that is cut off refuses writes after as long',
  },
  {
    where: 'cluster',
    name: 'slots',
    value: 'every third twelfth to each primary',
    why: 'the default locks share a primary, so that its failover puts all of them at risk',
  },
];
