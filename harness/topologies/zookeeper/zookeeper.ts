/** ZooKeeper: one server, or a quorum of three. Roles are asked of the servers, which agree on a leader by majority. */

import type { Capability } from '../../vocabulary/host.js';
import type {
  ServerNode,
  Service,
  Setting,
  Shard,
  Topology,
  TopologyContext,
  TopologyKind,
} from '../../vocabulary/topology.js';
import { startedOrThrow } from '../ready.js';
import { oneShard } from '../replication.js';
import type { ServerState } from './four-letters.js';
import { LockRecord } from './lock-record.js';
import { findZookeeper, findZookeeperHere } from './program.js';
import { SYNC_LIMIT_TICKS, TICK_MS, ZOOKEEPER_PORT, ZooServer } from './zookeeper-server.js';

const UNAVAILABLE: Partial<Record<Capability, string>> = {
  redis: 'it is for Redis and Valkey only',
  roles: 'ZooKeeper replaces its leader by itself: kill it, pause it or cut it off (kill:primary, ...)',
  holds: 'ZooKeeper does not tell for how long it will have a session',
  clock: 'ZooKeeper times sessions by a clock that nobody sets, and does not tell the time of day',
  disk: 'what ZooKeeper syncs is not recorded, so nobody knows what a power cut would leave',
};

const CLIENT_FAULTS = ['pause:holder', 'partition:client', 'kill:client'];

const single = zookeeperKind('zookeeper-single', 'one ZooKeeper server', ['z1'], ['kill', ...CLIENT_FAULTS]);
const quorum = zookeeperKind(
  'zookeeper',
  'three ZooKeeper servers, of which two make a quorum',
  ['z1', 'z2', 'z3'],
  // The leader is the primary.
  ['kill:primary', ...CLIENT_FAULTS, 'partition:primary', '?pause:primary', '?partition:minority'],
);

const SETTINGS: readonly Setting[] = [
  {
    where: 'zookeeper',
    name: 'tickTime',
    value: `${TICK_MS} ms`,
    why: `servers that hear nothing of each other part after ${(SYNC_LIMIT_TICKS * TICK_MS) / 1_000} s (syncLimit ${SYNC_LIMIT_TICKS}) instead of 10 s, and sessions end at the next tick`,
  },
];

export const zookeeper: Service = {
  name: 'zookeeper',
  title: 'ZooKeeper',
  topologies: { quorum, single },
  find: findZookeeper,
  findHere: findZookeeperHere,
};

function zookeeperKind(
  name: string,
  summary: string,
  members: readonly string[],
  defaultFaults: readonly string[],
): TopologyKind {
  const replicated = members.length > 1;
  return {
    name,
    service: 'zookeeper',
    unavailable: UNAVAILABLE,
    summary,
    defaultLock: 'zk-lock',
    defaultFaults,
    replicated,
    quorum: 'primary',
    hosts: () => ({ nodes: [...members], sentinels: [], managers: [] }),
    start: (hosts, _options, context) => start(name, replicated, hosts, context),
  };
}

async function start(
  name: string,
  replicated: boolean,
  hosts: Parameters<TopologyKind['start']>[0],
  context: TopologyContext,
): Promise<Topology> {
  const { clock, redis: binary } = context;
  const record = new LockRecord(hosts.length);
  const nodes = hosts.map((host) => new ZooServer({ host, members: hosts, record, binary, clock }));
  await Promise.all(nodes.map((node) => node.start()));
  const topology: Topology = {
    name,
    nodes,
    sentinels: [],
    watchers: [],
    settings: SETTINGS,
    replicated,
    quorum: { kind: 'primary' },
    // A leader that hears of no majority answers nobody any more.
    replacedPrimary: 'leave',
    describe: () => ({
      kind: 'zookeeper',
      nodes: nodes.map((node) => ({ name: node.name, host: node.host.address, port: ZOOKEEPER_PORT })),
    }),
    shards: async () => zooLeaderShard(nodes, await answers(nodes)),
    missing: async () => missingOfQuorum(nodes, await answers(nodes)),
    [Symbol.asyncDispose]: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
  return startedOrThrow(topology, clock, context.readyTimeoutMs);
}

/** Of one server: what it says of itself, and in which leader's time. */
export type ZooAnswer = (ServerState & { epoch: number }) | Error;

function answers(nodes: readonly ZooServer[]): Promise<ZooAnswer[]> {
  return Promise.all(
    nodes.map((node) =>
      node.state().then(
        (state) => ({ ...state, epoch: node.epoch() }),
        (error: Error) => error,
      ),
    ),
  );
}

/** The leader in the newest time of which a majority serves; empty while there is none. */
export function zooLeaderShard(nodes: readonly ServerNode[], answers: readonly ZooAnswer[]): Shard[] {
  const serving = answers.flatMap((answer) => (answer instanceof Error || !answer.serving ? [] : [answer]));
  const epoch = Math.max(...serving.map((answer) => answer.epoch));
  const isOfNow = (answer: ZooAnswer) => !(answer instanceof Error) && !!answer.serving && answer.epoch === epoch;
  const leader = answers.findIndex((answer) => isOfNow(answer) && (answer as ServerState).serving!.mode !== 'follower');
  const ofNow = answers.filter(isOfNow);
  return leader >= 0 && ofNow.length > nodes.length / 2 ? [oneShard(nodes[leader]!, nodes)] : [];
}

/** What keeps the servers from being one deployment, in words. */
export function missingOfQuorum(nodes: readonly ServerNode[], answers: readonly ZooAnswer[]): string[] {
  const missing = nodes.flatMap(({ name }, n) => {
    const answer = answers[n]!;
    if (answer instanceof Error) return [`${name} does not answer (${answer.message})`];
    return answer.serving ? [] : [`${name} has no leader`];
  });
  if (missing.length > 0) return missing;
  const [shard] = zooLeaderShard(nodes, answers);
  if (!shard) return ['no server is the leader of a majority'];
  const { epoch } = answers[nodes.indexOf(shard.primary)] as { epoch: number };
  return nodes.flatMap(({ name }, n) =>
    (answers[n] as { epoch: number }).epoch === epoch ? [] : [`${name} does not follow ${shard.primary.name}`],
  );
}
