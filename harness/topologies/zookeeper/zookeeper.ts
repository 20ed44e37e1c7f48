/** ZooKeeper: one server, or a quorum of three. Roles are asked of the servers, which agree on a leader by majority. */

import type { Capability } from '../../vocabulary/host.js';
import type { ServerNode, Service, Setting, Shard } from '../../vocabulary/topology.js';
import { ownQuorum } from '../own-quorum.js';
import { oneShard } from '../replication.js';
import type { ServerState } from './four-letters.js';
import { LockRecord } from './lock-record.js';
import { findZookeeper, findZookeeperHere, findZookeeperInImage, JAR, PACKAGED } from './program.js';
import { SYNC_LIMIT_TICKS, TICK_MS, ZooServer } from './zookeeper-server.js';

const UNAVAILABLE: Partial<Record<Capability, string>> = {
  redis: 'it is for Redis and Valkey only',
  roles: 'ZooKeeper replaces its leader by itself: kill it, pause it or cut it off (kill:primary, ...)',
  holds: 'ZooKeeper does not tell for how long it will have a session',
  clock: 'ZooKeeper times sessions by a clock that nobody sets, and does not tell the time of day',
  disk: 'what ZooKeeper syncs is not recorded, so nobody knows what a power cut would leave',
};

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
  topologies: ownQuorum({
    service: 'zookeeper',
    called: { one: 'ZooKeeper server', many: 'ZooKeeper servers' },
    letter: 'z',
    defaultLock: 'zk-lock',
    unavailable: UNAVAILABLE,
    settings: SETTINGS,
    servers(hosts, { clock, redis: binary }) {
      const record = new LockRecord(hosts.length);
      return hosts.map((host) => new ZooServer({ host, members: hosts, record, binary, clock }));
    },
    answers,
    shards: zooLeaderShard,
    missing: missingOfQuorum,
  }),
  find: findZookeeper,
  findHere: findZookeeperHere,
  inContainers: {
    image: 'zookeeper:3.9',
    // As Debian has it, and as releases are unpacked in the published image.
    programs: [`/${JAR}`, '/apache-zookeeper-*/lib/zookeeper-[0-9]*.jar'],
    packages: [...PACKAGED.packages, 'default-jre-headless'],
    find: findZookeeperInImage,
  },
};

/** Of one server: what it says of itself, and in which leader's time. */
export type ZooAnswer = (ServerState & { epoch: number }) | Error;

function answers(nodes: readonly ZooServer[]): Promise<ZooAnswer[]> {
  return Promise.all(
    nodes.map((node) =>
      Promise.all([node.state(), node.epoch()]).then(
        ([state, epoch]) => ({ ...state, epoch }),
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
