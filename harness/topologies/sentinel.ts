/**
 * A primary with two replicas, watched by three Sentinels; clients find the primary through the Sentinels.
 *
 * Sentinel's own periods are shortened so that a deployment is ready in about a second and a failover takes little more
 * than `down-after-milliseconds`; every such setting is reported. None of them changes what a failover can lose.
 */
import type { Host } from '../vocabulary/host.js';
import type {
  ServerNode,
  Setting,
  Topology,
  TopologyContext,
  TopologyKind,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { accessOf, dataNode, dataSettings, passwordOf } from './data-node.js';
import { endpoint, killAll } from './independent.js';
import { replicatedOutlook } from './outlooks.js';
import { notAnswering, startedOrThrow } from './ready.js';
import { REDIS_PORT, RedisServer, SENTINEL_PORT } from './redis-server.js';
import { oneShard, REPLICATION, REPLICATION_SETTINGS, replicaTrouble } from './replication.js';
import { serverTls } from './server-tls.js';

const MASTER_NAME = 'mymaster';
const DATA_NODES = ['r1', 'r2', 'r3'];
const SENTINELS = ['s1', 's2', 's3'];
/**
 * One for each Sentinel. Three Sentinels on one machine find the primary dead in the same millisecond, each votes for
 * itself, and the election is lost more often than won (seen: 8 s without a primary). A little apart, the second to
 * notice has its quorum and all votes before the third wakes up.
 */
const DOWN_AFTER_MS = [400, 500, 650];
const FAILOVER_TIMEOUT_MS = 1_500;
/**
 * `SENTINEL DEBUG` periods, milliseconds. By default a deployment needs 5-10 s to know itself, and a returning primary
 * stays one for 10 s. The ping period must be well below `down-after`, or a server that is fine is taken for dead before
 * its first PONG; and above 200, because a replica whose INFO is older than five of them is no candidate, and while the
 * primary is down INFO is asked for only once a second.
 */
const DEBUG_PERIODS_MS = { 'info-period': 100, 'publish-period': 100, 'ping-period': 250 };
/** Measured: 1.3 to 2 s from the primary's death until the Sentinels agree on another. */
export const EXPECTED_FAILOVER_MS = 1_600;

export const sentinel: TopologyKind = {
  name: 'sentinel',
  service: 'redis',
  summary: 'one primary, two replicas, three Sentinels',
  defaultLock: 'set-nx-px',
  replicated: true,
  outlook: replicatedOutlook('sentinel'),
  quorum: 'primary',
  plannedFailover: 'sentinel',
  expectedFailoverMs: EXPECTED_FAILOVER_MS,
  hosts: () => ({ nodes: DATA_NODES, sentinels: SENTINELS, managers: [] }),
  async start(hosts, options, context) {
    const named = (names: readonly string[]) => names.map((name) => hosts.find((host) => host.name === name)!);
    const masterName = MASTER_NAME;
    const group = await startGroup(
      { masterName, nodes: named(DATA_NODES), sentinels: named(SENTINELS) },
      options,
      context,
    );
    return startedOrThrow(sentinelTopology(group, options, context), context.clock, context.readyTimeoutMs);
  },
};

/** A primary with its replicas, and the Sentinels that watch it. */
export interface SentinelGroup {
  readonly masterName: string;
  /** The first primary first. */
  readonly nodes: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
}

/** Starts every server of a group; resolves when each answers, which does not mean that they know of each other. */
export async function startGroup(
  {
    masterName,
    nodes,
    sentinels: watching,
  }: { masterName: string; nodes: readonly Host[]; sentinels: readonly Host[] },
  options: TopologyOptions,
  context: TopologyContext,
): Promise<SentinelGroup> {
  const [first, ...others] = nodes;
  const replicaOf = `replicaof ${first!.address} ${REDIS_PORT}`;
  const primary = dataNode(first!, options, context, REPLICATION);
  const replicas = others.map((host) => dataNode(host, options, context, [...REPLICATION, replicaOf]));
  const quorum = quorumOf(watching.length);
  const sentinels = watching.map(
    (host, nth) =>
      new RedisServer({
        kind: 'sentinel',
        host,
        port: SENTINEL_PORT,
        config: sentinelConfig({ masterName, quorum, downAfterMs: DOWN_AFTER_MS[nth]! }, first!.address, options),
        redis: context.redis,
        clock: context.clock,
        afterStart: setDebugPeriods,
        ...passwordOf(options),
        ...serverTls(host, context),
      }),
  );
  // A replica that starts before its primary listens tries again only after a second.
  await primary.start();
  await Promise.all([...replicas, ...sentinels].map((node) => node.start()));
  return { masterName, nodes: [primary, ...replicas], sentinels };
}

function quorumOf(sentinels: number): number {
  return Math.floor(sentinels / 2) + 1;
}

function sentinelTopology(group: SentinelGroup, options: TopologyOptions, context: TopologyContext): Topology {
  const { nodes, sentinels } = group;
  return {
    name: 'sentinel',
    nodes,
    sentinels,
    watchers: sentinels.map((node) => node.host),
    settings: [...dataSettings(options), ...sentinelSettings(group)],
    replicated: true,
    quorum: { kind: 'primary' },
    replacedPrimary: 'keeps',
    describe: () => ({
      kind: 'sentinel',
      masterName: MASTER_NAME,
      sentinels: sentinels.map(endpoint),
      ...accessOf(options, context),
    }),
    shards: async () => {
      const primary = await agreedPrimary(group);
      return primary ? [oneShard(primary, nodes)] : [];
    },
    missing: () => whatIsMissing(group),
    [Symbol.asyncDispose]: () => killAll([...nodes, ...sentinels]),
  };
}

/** The node that a majority of Sentinels names and that itself says it is a primary. */
export async function agreedPrimary({ masterName, nodes, sentinels }: SentinelGroup): Promise<ServerNode | undefined> {
  const answers = await Promise.all(
    sentinels.map((node) => node.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName).catch(() => undefined)),
  );
  const votes = new Map<string, number>();
  for (const answer of answers) {
    if (Array.isArray(answer)) votes.set(String(answer[0]), (votes.get(String(answer[0])) ?? 0) + 1);
  }
  const elected = [...votes].find(([, count]) => count > sentinels.length / 2)?.[0];
  const node = nodes.find((candidate) => candidate.host.address === elected);
  if (!node) return undefined;
  const role = await node.command('ROLE').catch(() => undefined);
  return Array.isArray(role) && role[0] === 'master' ? node : undefined;
}

/** What keeps the group from being whole, in words. */
export async function whatIsMissing(group: SentinelGroup): Promise<string[]> {
  const { masterName, nodes, sentinels } = group;
  const silent = await notAnswering([...nodes, ...sentinels]);
  if (silent.length > 0) return silent;
  const primary = await agreedPrimary(group);
  if (!primary) return [`no primary of ${masterName} on which the Sentinels agree`];
  const perReplica = nodes.filter((node) => node !== primary).map((node) => replicaTrouble(node, primary));
  const perSentinel = sentinels.map((node) =>
    sentinelTrouble(node, { masterName, replicas: nodes.length - 1, others: sentinels.length - 1 }),
  );
  return (await Promise.all([...perReplica, ...perSentinel])).filter((trouble) => trouble !== undefined);
}

async function sentinelTrouble(
  node: ServerNode,
  { masterName, replicas, others }: { masterName: string; replicas: number; others: number },
): Promise<string | undefined> {
  const told = await node.fields('SENTINEL', 'MASTER', masterName).catch((error: Error) => error);
  if (told instanceof Error) return `${node.name} does not tell of the primary: ${told.message}`;
  const facts = told[0] ?? new Map<string, string>();
  if (facts.get('flags') !== 'master') return `${node.name} sees the primary as "${facts.get('flags')}"`;
  if (facts.get('num-slaves') !== String(replicas))
    return `${node.name} knows ${facts.get('num-slaves')} of ${replicas} replicas`;
  const known = facts.get('num-other-sentinels');
  if (known !== String(others)) return `${node.name} knows ${known} of ${others} other Sentinels`;
  const quorum = await node.command('SENTINEL', 'CKQUORUM', masterName).catch((error: Error) => error.message);
  return String(quorum).startsWith('OK') ? undefined : `${node.name}: ${String(quorum)}`;
}

/** Never written to its file, so told after every start: without them a returning primary stays one for 10 s. */
async function setDebugPeriods(node: ServerNode): Promise<void> {
  await node.command('SENTINEL', 'DEBUG', ...Object.entries(DEBUG_PERIODS_MS).flat());
}

function sentinelConfig(
  { masterName, quorum, downAfterMs }: { masterName: string; quorum: number; downAfterMs: number },
  primaryAddress: string,
  { password }: TopologyOptions,
): string[] {
  return [
    `sentinel monitor ${masterName} ${primaryAddress} ${REDIS_PORT} ${quorum}`,
    ...(password ? [`sentinel auth-pass ${masterName} ${password}`, `sentinel sentinel-pass ${password}`] : []),
    `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
    `sentinel failover-timeout ${masterName} ${FAILOVER_TIMEOUT_MS}`,
  ];
}

/** What the servers of such a group are started with beyond their defaults. */
export function sentinelSettings({ sentinels: { length: count } }: SentinelGroup): Setting[] {
  return [
    ...REPLICATION_SETTINGS,
    {
      where: 'sentinel',
      name: 'quorum',
      value: String(quorumOf(count)),
      why: count === 1 ? 'one decides alone' : 'a majority of three',
    },
    {
      where: 'sentinel',
      name: 'down-after-milliseconds',
      value: DOWN_AFTER_MS.slice(0, count).join(', '),
      why: 'failover in about 1.5 s (default 30000); apart, so that votes are not split',
    },
    {
      where: 'sentinel',
      name: 'failover-timeout',
      value: String(FAILOVER_TIMEOUT_MS),
      why: 'a lost election is repeated soon (default 180000)',
    },
    ...Object.entries(DEBUG_PERIODS_MS).map(([name, value]) => ({
      where: 'sentinel debug',
      name,
      value: String(value),
      why: 'ready, and a returning primary demoted, in about a second',
    })),
  ];
}
