/**
 * MongoDB: one server. Replica sets are not offered: no `mongod` could be had to try them with, and FerretDB has none.
 *
 * Servers ask for no password: FerretDB's own authentication is an experiment, and that of `mongod` could not be tried. They listen
 * on the run's own network only.
 */
import type { Capability, Host } from '../../vocabulary/host.js';
import type { Service, Topology, TopologyContext, TopologyKind } from '../../vocabulary/topology.js';
import { oneServer } from '../one-server.js';
import { MongoServer } from './mongodb-server.js';
import { findMongodb, findMongodbInImage, isFerretDb } from './program.js';

const UNAVAILABLE: Partial<Record<Capability, string>> = {
  redis: 'it is for Redis and Valkey only',
  roles: 'one server has nobody who could replace it',
  clock:
    'the clock shim has not been tried on MongoDB, and FerretDB is a Go program, which asks the kernel for the time',
  disk: 'what MongoDB syncs is not recorded, so nobody knows what a power cut would leave',
};

const single: TopologyKind = {
  name: 'mongodb',
  service: 'mongodb',
  unavailable: UNAVAILABLE,
  summary: 'one MongoDB server',
  defaultLock: 'mongo-lease',
  defaultFaults: ['kill', 'pause:holder', 'partition:client', 'kill:client', '?pause'],
  replicated: false,
  quorum: 'primary',
  hosts: () => ({ nodes: ['m1'], sentinels: [], managers: [] }),
  start: (hosts, _options, context) => start(hosts[0]!, context),
};

async function start(host: Host, context: TopologyContext): Promise<Topology> {
  const { clock, redis: binary, say } = context;
  if (isFerretDb(binary))
    say(
      'note: FerretDB takes two steps for findOneAndUpdate, so mongo-lease is granted twice on it; mongo-terms is not',
    );
  const node = new MongoServer({ host, binary, clock });
  await node.start();
  const describe = () => ({
    kind: 'mongodb' as const,
    nodes: [{ name: node.name, host: host.address, port: node.port }],
  });
  return oneServer(node, { name: single.name, settings: node.settings, describe }, context);
}

export const mongodb: Service = {
  name: 'mongodb',
  title: 'MongoDB',
  topologies: { single },
  find: findMongodb,
  findHere: findMongodb,
  inContainers: { image: 'mongo:8', programs: ['mongod'], packages: [], find: findMongodbInImage },
};
