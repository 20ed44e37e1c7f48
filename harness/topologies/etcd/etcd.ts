/** etcd: one member, or a quorum of three. Roles are asked of the members, which agree on a leader by majority. */

import { findInImage, findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Capability } from '../../vocabulary/host.js';
import type { ServerNode, Service, Shard } from '../../vocabulary/topology.js';
import { ownQuorum } from '../own-quorum.js';
import { oneShard } from '../replication.js';
import { EtcdServer } from './etcd-server.js';
import type { MemberStatus } from './gateway.js';

const UNAVAILABLE: Partial<Record<Capability, string>> = {
  redis: 'it is for Redis and Valkey only',
  roles: 'etcd replaces its leader by itself: kill it, pause it or cut it off (kill:primary, ...)',
  holds: 'etcd tells of its cluster, not of one member',
  clock: 'etcd is a Go program, which asks the kernel for the time: no shim reaches it',
  disk: 'what etcd syncs is not recorded, so nobody knows what a power cut would leave',
};

/** The first with `/v3/` in its gateway. */
const PROGRAM: ServiceProgram = {
  title: 'etcd',
  name: 'etcd',
  command: 'etcd',
  packages: ['etcd-server'],
  program: 'usr/bin/etcd',
  version: /^etcd Version: (\d+\.\d+\.\S+)/m,
  versionMin: [3, 4],
};

export const etcd: Service = {
  name: 'etcd',
  title: 'etcd',
  topologies: ownQuorum({
    service: 'etcd',
    called: { one: 'etcd member', many: 'etcd members' },
    letter: 'e',
    defaultLock: 'etcd-lease',
    unavailable: UNAVAILABLE,
    settings: [],
    servers: (hosts, { clock, redis: binary }) =>
      hosts.map((host) => new EtcdServer({ host, members: hosts, binary, clock })),
    answers: statuses,
    shards: leaderShard,
    missing: missingOf,
  }),
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
  inContainers: {
    // Its own images have the program and nothing else: no shell, and so no tools that faults are made with.
    image: 'debian:trixie-slim',
    programs: [PROGRAM.command],
    packages: PROGRAM.packages,
    find: (...there) => findInImage(PROGRAM, ...there),
  },
};

type Answers = readonly (MemberStatus | Error)[];

function statuses(nodes: readonly EtcdServer[]): Promise<(MemberStatus | Error)[]> {
  return Promise.all(nodes.map((node) => node.status().catch((error: Error) => error)));
}

/** The leader that takes itself for it, in the newest term of which a majority hears; empty while there is none. */
export function leaderShard(nodes: readonly ServerNode[], answers: Answers): Shard[] {
  const told = answers.flatMap((answer) => (answer instanceof Error ? [] : [answer]));
  const term = Math.max(...told.map(({ raftTerm }) => raftTerm));
  const leader = answers.findIndex(
    (answer) => !(answer instanceof Error) && answer.raftTerm === term && answer.leaderId === answer.memberId,
  );
  if (leader < 0) return [];
  const { memberId } = answers[leader] as MemberStatus;
  const followers = told.filter(({ raftTerm, leaderId }) => raftTerm === term && leaderId === memberId);
  return followers.length > nodes.length / 2 ? [oneShard(nodes[leader]!, nodes)] : [];
}

/** What keeps the members from being one cluster, in words. */
export function missingOf(nodes: readonly ServerNode[], answers: Answers): string[] {
  const silent = nodes.flatMap(({ name }, n) => {
    const answer = answers[n]!;
    return answer instanceof Error ? [`${name} does not answer (${answer.message})`] : [];
  });
  if (silent.length > 0) return silent;
  const [shard] = leaderShard(nodes, answers);
  if (!shard) return ['no member is the leader of a majority'];
  const leader = answers[nodes.indexOf(shard.primary)] as MemberStatus;
  return nodes.flatMap(({ name }, n) =>
    (answers[n] as MemberStatus).leaderId === leader.memberId ? [] : [`${name} does not follow ${shard.primary.name}`],
  );
}
