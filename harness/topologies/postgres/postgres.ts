/** PostgreSQL: one server, or a primary with a replica that is told of a commit after it was answered, or before. */

import { codename } from '../../machine/debian-packages.js';
import { findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Capability, Host } from '../../vocabulary/host.js';
import type {
  Service,
  Setting,
  Topology,
  TopologyContext,
  TopologyKind,
  TopologyOptions,
} from '../../vocabulary/topology.js';
import { MANAGER, startPrimaryReplica } from '../primary-replica.js';
import { startedOrThrow } from '../ready.js';
import { oneShard } from '../replication.js';
import { USER } from './admin.js';
import { PostgresServer } from './postgres-server.js';
import { settingsOf } from './sql.js';

const NEVER: Partial<Record<Capability, string>> = {
  redis: 'it is for Redis and Valkey only',
  disk: 'what PostgreSQL syncs is not recorded, so nobody knows what a power cut would leave',
};
const ONE_SERVER = { roles: 'one server has nobody who could replace it' };
const CLIENT_FAULTS = ['pause:holder', 'partition:client', 'kill:client'];

const single: TopologyKind = {
  name: 'postgres-single',
  service: 'postgres',
  hasPassword: true,
  unavailable: { ...NEVER, ...ONE_SERVER },
  summary: 'one PostgreSQL server',
  defaultLock: 'pg-row',
  defaultFaults: ['kill', ...CLIENT_FAULTS, '?pause'],
  replicated: false,
  quorum: 'primary',
  hosts: () => ({ nodes: ['p1'], sentinels: [], managers: [] }),
  start: startSingle,
};

const replicated = (name: string, synchronous: boolean, summary: string): TopologyKind => ({
  name,
  service: 'postgres',
  hasPassword: true,
  unavailable: NEVER,
  summary,
  defaultLock: 'pg-row',
  defaultFaults: ['failover', ...CLIENT_FAULTS, 'failover', '?kill:primary', '?partition:primary'],
  replicated: true,
  quorum: 'primary',
  expectedFailoverMs: 1_200,
  hosts: () => ({ nodes: ['p1', 'p2'], sentinels: [], managers: [MANAGER] }),
  start: (hosts, options, context) =>
    startPrimaryReplica<PostgresServer>(
      {
        name,
        user: USER,
        password: passwordFor(options),
        settings: settings(synchronous),
        server: (host, primary) => server(host, context, passwordFor(options), synchronous, primary),
        prepareDatabase: (primary) => primary.prepareDatabase(),
      },
      hosts,
      context,
    ),
});

/** Major version by the distribution's release: its package is named after it. */
const MAJOR: Readonly<Record<string, number>> = { bullseye: 13, bookworm: 15, trixie: 17, jammy: 14, noble: 16 };
const major = MAJOR[codename()] ?? 15;
const FOLDER = `usr/lib/postgresql/${major}/bin`;

/** The first with `idle_session_timeout`. */
const PROGRAM: ServiceProgram = {
  title: 'PostgreSQL',
  name: 'postgres',
  command: 'postgres',
  packages: [`postgresql-${major}`, `postgresql-client-${major}`, 'libpq5'],
  program: `${FOLDER}/postgres`,
  versionsIn: { folder: '/usr/lib/postgresql', program: 'bin/postgres' },
  version: /^postgres \(PostgreSQL\) (\d+\.\d+)/m,
  versionMin: [14, 0],
};

export const postgres: Service = {
  name: 'postgres',
  title: 'PostgreSQL',
  topologies: {
    'primary-replica': replicated('postgres', false, 'a PostgreSQL primary and a replica that it does not wait for'),
    'primary-replica-sync': replicated(
      'postgres-sync',
      true,
      'a PostgreSQL primary whose commits wait for its replica',
    ),
    single,
  },
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
};

function server(
  host: Host,
  { redis: binary, clock }: TopologyContext,
  password: string,
  synchronous: boolean,
  primary: () => PostgresServer | undefined,
): PostgresServer {
  return new PostgresServer({ host, binary, clock, password, synchronous, primary });
}

async function startSingle(
  hosts: readonly Host[],
  options: TopologyOptions,
  context: TopologyContext,
): Promise<Topology> {
  const password = passwordFor(options);
  const node = server(hosts[0]!, context, password, false, () => undefined);
  await node.start();
  await node.prepareDatabase();
  const topology: Topology = {
    name: single.name,
    nodes: [node],
    sentinels: [],
    watchers: [],
    settings: settings(false),
    replicated: false,
    quorum: { kind: 'primary' },
    replacedPrimary: 'leave',
    describe: () => {
      const endpoint = { name: node.name, host: node.host.address, port: node.port };
      return { kind: 'postgres', primary: endpoint, nodes: [endpoint], user: USER, password };
    },
    shards: async () => [oneShard(node, [node])],
    missing: () =>
      node.ping().then(
        () => [],
        (error: Error) => [`${node.name} does not answer (${error.message})`],
      ),
    [Symbol.asyncDispose]: () => node.stop(),
  };
  return startedOrThrow(topology, context.clock, context.readyTimeoutMs);
}

/** Drawn for each run. */
function passwordFor({ password }: TopologyOptions): string {
  if (password === undefined) throw new Error('PostgreSQL is never without a password');
  return password;
}

function settings(synchronous: boolean): Setting[] {
  return settingsOf(synchronous).map((setting) => ({ where: 'postgres', ...setting }));
}
