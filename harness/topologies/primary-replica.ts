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
  ServerNode,
  Setting,
  Topology,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
} from '../vocabulary/topology.js';
import { type FailoverManager, startFailoverManager } from './failover-manager/started.js';
import { startedOrThrow } from './ready.js';
import { oneShard } from './replication.js';
import type { ServiceServer } from './service-server.js';
import { VirtualAddress } from './virtual-address.js';

/** What its driver must add to a server for that. */
export interface ReplicatedServer extends ServiceServer {
  /** Becomes a replica of whoever is primary, with nothing of its own. */
  rebuild(): Promise<void>;
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

const MANAGER = 'm1';
const DOWN_AFTER_MS = 800;
const CHECK_EVERY_MS = 100;
const MOVE_AGAIN_MS = 200;

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
  { clock, readyTimeoutMs }: TopologyContext,
): Promise<Topology> {
  const node = parts.server(host, () => undefined);
  await node.start();
  await parts.prepareDatabase(node);
  const topology: Topology = {
    name: parts.name,
    nodes: [node],
    sentinels: [],
    watchers: [],
    settings: parts.settings,
    replicated: false,
    quorum: { kind: 'primary' },
    replacedPrimary: 'leave',
    describe: () => {
      const endpoint = { name: node.name, host: node.host.address, port: node.port };
      return { kind: node.kind, primary: endpoint, nodes: [endpoint], user: parts.user, password: parts.password };
    },
    shards: async () => [oneShard(node, [node])],
    missing: () =>
      node.ping().then(
        () => [],
        (error: Error) => [`${node.name} does not answer (${error.message})`],
      ),
    [Symbol.asyncDispose]: () => node.stop(),
  };
  return startedOrThrow(topology, clock, readyTimeoutMs);
}

class Deployment<Server extends ReplicatedServer> implements Topology {
  readonly name: string;
  readonly sentinels = [];
  readonly replicated = true;
  readonly quorum = { kind: 'primary' } as const;
  readonly replacedPrimary = 'leave';
  readonly watchers: readonly Host[];
  readonly settings: readonly Setting[];
  wanted: Server;
  private readonly manager: FailoverManager;
  private closed = false;
  private giving: Promise<unknown> = Promise.resolve();
  private readonly rebuilding = new Map<Server, Promise<void>>();

  constructor(
    private readonly parts: PrimaryReplica<Server>,
    readonly nodes: readonly Server[],
    managerHost: Host,
    private readonly address: VirtualAddress,
    private readonly context: TopologyContext,
  ) {
    this.name = parts.name;
    this.watchers = [managerHost];
    this.wanted = nodes[0]!;
    this.settings = [...parts.settings, ...settingsOf(address)];
    const order = {
      service: nodes[0]!.kind,
      servers: nodes.map(({ name, host, port }) => ({ name, host: host.address, port })),
      primary: this.wanted.name,
      downAfterMs: DOWN_AFTER_MS,
      checkEveryMs: CHECK_EVERY_MS,
      password: parts.password,
    };
    this.manager = startFailoverManager(managerHost, order, context.clock, (news) => {
      switch (news.news) {
        case 'promoted':
          this.give(news.server, `${news.server} promoted instead of ${news.instead}: ${news.why}`);
          break;
        case 'to-rebuild':
          this.rebuild(this.named(news.server));
          break;
        case 'trouble':
          context.say(`failover manager: ${news.what}`);
          break;
        default:
          context.say(`failover manager: ${news.server} ${news.news}, follows ${news.primary}`);
      }
    });
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

  async shards() {
    const primary = await this.primary();
    return primary ? [oneShard(primary, this.nodes)] : [];
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    await Promise.all([this.manager.stop(), this.giving]);
    // One that is being built anew is ended, too, once it is there.
    const end = async () => void (await Promise.all(this.nodes.map((node) => node.stop())));
    await end();
    await Promise.allSettled(this.rebuilding.values());
    await Promise.all([this.address.close(), end()]);
  }

  /** The node that says it is a primary and whose host alone has the address. */
  private async primary(): Promise<Server | undefined> {
    const roles = await Promise.all(this.nodes.map((node) => node.roleNow().catch(() => undefined)));
    const primaries = this.nodes.filter((_, at) => roles[at]?.role === 'primary');
    const holding = await Promise.all(primaries.map((node) => this.address.isOn(node.host)));
    const agreed = primaries.filter((_, at) => holding[at]);
    return agreed.length === 1 ? agreed[0] : undefined;
  }

  private async managerTrouble(): Promise<string[]> {
    try {
      const { primary, silent } = await this.manager.view();
      return [
        ...silent.map((name) => `the failover manager does not reach ${name}`),
        ...(primary === this.wanted.name ? [] : [`the failover manager has just promoted ${primary}`]),
      ];
    } catch (error) {
      return [`the failover manager: ${(error as Error).message}`];
    }
  }

  private named(name: string): Server {
    return this.nodes.find((node) => node.name === name)!;
  }

  private rebuild(node: Server): void {
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

  private give(name: string, why: string): void {
    this.wanted = this.named(name);
    this.giving = Promise.all([this.giving, this.giveAddress(this.wanted, why)]);
  }

  /** Tries again until it is done, or another has been promoted meanwhile. */
  private async giveAddress(node: ServerNode, why: string): Promise<void> {
    const { clock, say } = this.context;
    const fromNs = clock.nowNs();
    while (!this.closed && this.wanted === node) {
      try {
        await this.address.moveTo(node.host);
        const ms = Math.round((clock.nowNs() - fromNs) / 1e6);
        say(`failover manager: ${why}; ${this.address.address} moved to ${node.name} in ${ms} ms`);
        return;
      } catch (error) {
        say(`${this.address.address} could not be moved to ${node.name}: ${(error as Error).message}`);
        await clock.sleep(MOVE_AGAIN_MS);
      }
    }
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

function settingsOf({ address }: VirtualAddress): Setting[] {
  const manager = (name: string, value: string, why: string) => ({ where: 'failover manager', name, value, why });
  return [
    manager('virtual address', address, 'what clients connect to; never on two hosts, even if one is cut off'),
    manager('down-after-milliseconds', String(DOWN_AFTER_MS), 'a primary that has not answered for so long is down'),
    manager('check-period', String(CHECK_EVERY_MS), 'a question to every server, in milliseconds'),
  ];
}
