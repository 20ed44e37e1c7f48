/**
 * A primary, one replica and a failover manager of a database; clients use a virtual address, which moves to the replica when that
 * is promoted, as on Redis' `replica`.
 *
 * A server that was replaced and comes back is built anew, as a copy of the one that took its place: what it alone had committed
 * is gone then. The manager says so, and the harness does it, as an operator would.
 */
import type { Host } from '../vocabulary/host.js';
import type {
  OtherService,
  Setting,
  Topology,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
} from '../vocabulary/topology.js';
import { FailoverDeployment, MANAGER, managerSettings } from './failover-deployment.js';
import { oneServer } from './one-server.js';
import { databaseOutlook } from './outlooks.js';
import { startedOrThrow } from './ready.js';
import type { ServiceServer } from './service-server.js';
import { type AddressPower, VirtualAddress } from './virtual-address.js';

/** What its driver must add to a server for that. */
export interface ReplicatedServer extends ServiceServer {
  /** Becomes a replica of whoever is primary, with nothing of its own. */
  rebuild(): Promise<void>;
  /** It is the primary now, and no copy of another any more: to follow one it must be built anew. */
  promoted(): void;
  /** What is done to it now, where that is being built anew. */
  underWay: Promise<void> | undefined;
  /** The address of the server that it receives from now; undefined: from nobody. */
  receivesFrom(): Promise<string | undefined>;
  /** Why a commit does not wait for the replica yet, where it is to; undefined: it does, or need not. */
  notSynchronous(): Promise<string | undefined>;
}

interface PrimaryReplica<Server extends ReplicatedServer> {
  name: string;
  user: string;
  password: string;
  settings: readonly Setting[];
  /** `primary`: whom it is to replicate from when it is started; undefined: it is the first primary. */
  server(host: Host, primary: () => Server | undefined): Server;
  /** On the first primary, once it runs. */
  prepareDatabase(primary: Server): Promise<void>;
}

const DOWN_AFTER_MS = 800;

async function startPrimaryReplica<Server extends ReplicatedServer>(
  parts: PrimaryReplica<Server>,
  hosts: readonly Host[],
  context: TopologyContext,
): Promise<Topology> {
  const homes = hosts.filter(({ name }) => name !== MANAGER);
  const address = new VirtualAddress(context.spareAddress, homes, context.clock);
  let deployment: Deployment<Server> | undefined;
  const nodes: Server[] = homes.map((host) =>
    parts.server(host, () => {
      const primary = deployment?.wanted ?? nodes[0]!;
      return primary.host === host ? undefined : primary;
    }),
  );
  await Promise.all([
    nodes[0]!.start().then(() => parts.prepareDatabase(nodes[0]!)),
    address.prepare().then(() => address.moveTo(homes[0]!)),
  ]);
  await Promise.all(nodes.slice(1).map((node) => node.start()));
  deployment = new Deployment(parts, nodes, hosts.find(({ name }) => name === MANAGER)!, address, context);
  return startedOrThrow(deployment, context.clock, context.readyTimeoutMs);
}

interface DatabaseKind<Server extends ReplicatedServer> {
  name: string;
  service: OtherService;
  /** As people call the database. */
  title: string;
  summary: string;
  /** Names of its servers: one, or two of which the second is the replica. */
  servers: readonly string[];
  /** A commit is answered only when the replica has it. */
  waitsForReplica: boolean;
  defaultLock: string;
  parts(password: string, context: TopologyContext): Omit<PrimaryReplica<Server>, 'name' | 'password'>;
}

const CLIENT_FAULTS = ['pause:holder', 'partition:client', 'kill:client'];

/** A deployment of a database: one server, or a primary with its replica. */
export function databaseKind<Server extends ReplicatedServer>(kind: DatabaseKind<Server>): TopologyKind {
  const { name, service, title, summary, servers, defaultLock } = kind;
  const isReplicated = servers.length > 1;
  return {
    name,
    service,
    hasPassword: true,
    unavailable: {
      redis: 'it is for Redis and Valkey only',
      disk: `what ${title} syncs is not recorded, so nobody knows what a power cut would leave`,
      ...(!isReplicated && { roles: 'one server has nobody who could replace it' }),
    },
    summary,
    defaultLock,
    defaultFaults: isReplicated
      ? ['failover', ...CLIENT_FAULTS, 'failover', '?kill:primary', '?partition:primary']
      : ['kill', ...CLIENT_FAULTS, '?pause'],
    replicated: isReplicated,
    ...(isReplicated && { outlook: databaseOutlook(kind.waitsForReplica) }),
    quorum: 'primary',
    ...(isReplicated && { expectedFailoverMs: 1_200 }),
    hosts: () => ({ nodes: [...servers], sentinels: [], managers: isReplicated ? [MANAGER] : [] }),
    async start(hosts, { password }, context) {
      if (password === undefined) throw new Error(`${title} is never without a password`);
      const parts = { name, password, ...kind.parts(password, context) };
      return isReplicated ? startPrimaryReplica(parts, hosts, context) : startAlone(parts, hosts[0]!, context);
    },
  };
}

/** One server of such a database, without anybody who could take its place. */
async function startAlone<Server extends ReplicatedServer>(
  parts: PrimaryReplica<Server>,
  host: Host,
  context: TopologyContext,
): Promise<Topology> {
  const node = parts.server(host, () => undefined);
  await node.start();
  await parts.prepareDatabase(node);
  const describe = () => {
    const endpoint = { name: node.name, host: host.address, port: node.port };
    return { kind: node.kind, primary: endpoint, nodes: [endpoint], user: parts.user, password: parts.password };
  };
  return oneServer(node, { name: parts.name, settings: parts.settings, describe }, context);
}

class Deployment<Server extends ReplicatedServer> extends FailoverDeployment<Server> {
  readonly name: string;
  readonly settings: readonly Setting[];
  private readonly rebuilding = new Map<Server, Promise<void>>();

  constructor(
    private readonly parts: PrimaryReplica<Server>,
    nodes: readonly Server[],
    managerHost: Host,
    address: AddressPower,
    context: TopologyContext,
  ) {
    const { password } = parts;
    super(nodes, managerHost, address, context, { service: nodes[0]!.kind, password, downAfterMs: DOWN_AFTER_MS });
    this.name = parts.name;
    this.settings = [...parts.settings, ...managerSettings(address, DOWN_AFTER_MS, 'a question')];
  }

  describe(): TopologyDescription {
    const { nodes, parts, address } = this;
    const { kind, port } = nodes[0]!;
    return {
      kind,
      primary: { name: 'primary', host: address.address, port },
      nodes: nodes.map((node) => ({ name: node.name, host: node.host.address, port })),
      user: parts.user,
      password: parts.password,
    };
  }

  async missing(): Promise<string[]> {
    const rebuilt = [...this.rebuilding.keys()].map(({ name }) => `${name} is being built anew`);
    if (rebuilt.length > 0) return rebuilt;
    const silent = await Promise.all(
      this.nodes.map((node) =>
        node.ping().then(
          () => [],
          (error: Error) => [`${node.name} does not answer (${error.message})`],
        ),
      ),
    );
    if (silent.flat().length > 0) return silent.flat();
    const [primary, managers] = await Promise.all([this.primary(), this.managerTrouble()]);
    if (!primary) return [`no server that has ${this.address.address} is a primary`, ...managers];
    const replicas = this.nodes.filter((node) => node !== primary).map((node) => replicaTrouble(node, primary));
    const trouble = [...(await Promise.all(replicas)), await troubleOf(() => primary.notSynchronous())];
    return [...trouble.filter((what) => what !== undefined), ...managers];
  }

  protected async saysPrimary(node: Server): Promise<boolean> {
    return (await node.roleNow().catch(() => undefined))?.role === 'primary';
  }

  protected override promoted(node: Server): void {
    node.promoted();
  }

  protected async endServers(): Promise<void> {
    // One that is being built anew is ended, too, once it is there.
    const end = async () => void (await Promise.all(this.nodes.map((node) => node.stop())));
    await end();
    await Promise.allSettled(this.rebuilding.values());
    await end();
  }

  protected rebuild(node: Server): void {
    if (this.rebuilding.has(node) || this.closed) return;
    const { say } = this.context;
    say(`${node.name} is built anew from ${this.wanted.name}`);
    const done = node.rebuild().catch((error: Error) => {
      if (!this.closed) say(`${node.name} could not be built anew: ${error.message}`);
    });
    const over = done.then(() => {
      this.rebuilding.delete(node);
      node.underWay = undefined;
    });
    node.underWay = over;
    this.rebuilding.set(node, over);
  }
}

async function replicaTrouble(node: ReplicatedServer, primary: ReplicatedServer): Promise<string | undefined> {
  return troubleOf(async () => {
    const from = await node.receivesFrom();
    return from === primary.host.address
      ? undefined
      : `${node.name} receives from ${from ?? 'nobody'}, not ${primary.name}`;
  });
}

async function troubleOf(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  return ask().catch((error: Error) => error.message);
}
