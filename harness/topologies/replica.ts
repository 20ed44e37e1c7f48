/**
 * A primary with two replicas and one failover manager; clients use a virtual address, which moves to whichever replica is
 * promoted, as keepalived or a cloud's floating address does it.
 *
 * Who is primary is asked of the servers and of the hosts: the node that says so and whose host has the address. The
 * harness remembers nothing but whom it was last told to give the address to.
 */
import type { Host } from '../vocabulary/host.js';
import type {
  ServerNode,
  Setting,
  Topology,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { dataNode, dataSettings, passwordOf } from './data-node.js';
import { type FailoverManager, startFailoverManager } from './failover-manager/started.js';
import { killAll } from './independent.js';
import { OwnVirtualAddress } from './own-virtual-address.js';
import { notAnswering, startedOrThrow } from './ready.js';
import { REDIS_PORT, type RedisServer } from './redis-server.js';
import { oneShard, REPLICATION, REPLICATION_SETTINGS, replicaTrouble } from './replication.js';
import { type AddressPower, VirtualAddress } from './virtual-address.js';

const DATA_NODES = ['r1', 'r2', 'r3'];
const MANAGER = 'm1';
const DOWN_AFTER_MS = 500;
const CHECK_EVERY_MS = 100;
/** Measured: 0.55 to 0.7 s from the death of the primary until the address has moved. */
const EXPECTED_FAILOVER_MS = 700;
const MOVE_AGAIN_MS = 200;
/** The address comes and goes, and a server can listen only to addresses that are there when it starts. */
const ANY_ADDRESS = 'bind 0.0.0.0';

export const replica: TopologyKind = {
  name: 'replica',
  service: 'redis',
  summary: 'one primary, two replicas, a virtual address that a failover manager moves to whom it promotes',
  defaultLock: 'set-nx-px',
  replicated: true,
  quorum: 'primary',
  plannedFailover: 'primary',
  expectedFailoverMs: EXPECTED_FAILOVER_MS,
  hosts: () => ({ nodes: DATA_NODES, sentinels: [], managers: [MANAGER] }),
  async start(hosts, options, context) {
    const byName = new Map(hosts.map((host) => [host.name, host]));
    const [first, ...others] = DATA_NODES.map((name) => byName.get(name)!);
    const config = [ANY_ADDRESS, ...REPLICATION];
    const primary = dataNode(first!, options, context, config);
    const replicaOf = `replicaof ${first!.address} ${REDIS_PORT}`;
    const replicas = others.map((host) => dataNode(host, options, context, [...config, replicaOf]));
    const nodes = [primary, ...replicas];
    const homes = [first!, ...others];
    const address = context.ownNetwork
      ? new OwnVirtualAddress(context.spareAddress, homes, context.ownNetwork)
      : new VirtualAddress(context.spareAddress, homes, context.clock);
    const deployment = new Deployment(nodes, byName.get(MANAGER)!, address, options, context);

    await Promise.all([primary.start(), address.prepare().then(() => address.moveTo(first!))]);
    // A replica that starts before its primary listens tries again only after a second.
    await Promise.all(replicas.map((node) => node.start()));
    return startedOrThrow(deployment, context.clock, context.readyTimeoutMs);
  },
};

class Deployment implements Topology {
  readonly name = 'replica';
  readonly sentinels = [];
  readonly replicated = true;
  readonly quorum = { kind: 'primary' } as const;
  readonly replacedPrimary = 'leave';
  readonly watchers: readonly Host[];
  readonly settings: readonly Setting[];
  private readonly manager: FailoverManager;
  private wanted: RedisServer;
  private closed = false;
  private giving: Promise<unknown> = Promise.resolve();

  constructor(
    readonly nodes: readonly RedisServer[],
    managerHost: Host,
    private readonly address: AddressPower,
    private readonly options: TopologyOptions,
    private readonly context: TopologyContext,
  ) {
    this.watchers = [managerHost];
    this.settings = [...dataSettings(options), ...REPLICATION_SETTINGS, ...settingsOf(address)];
    this.wanted = nodes[0]!;
    const order = {
      servers: nodes.map(({ name, host, port }) => ({ name, host: host.address, port })),
      primary: this.wanted.name,
      downAfterMs: DOWN_AFTER_MS,
      checkEveryMs: CHECK_EVERY_MS,
      ...passwordOf(options),
    };
    this.manager = startFailoverManager(managerHost, order, context.clock, (news) => {
      switch (news.news) {
        case 'promoted':
          this.give(news.server, `${news.server} promoted instead of ${news.instead}: ${news.why}`);
          break;
        case 'demoted':
        case 'repointed':
          context.say(`failover manager: ${news.server} ${news.news}, follows ${news.primary}`);
          break;
        case 'to-rebuild':
          break;
        case 'trouble':
          context.say(`failover manager: ${news.what}`);
      }
    });
  }

  describe(): TopologyDescription {
    const node = { name: 'primary', host: this.address.address, port: REDIS_PORT };
    return { kind: 'replica', node, ...passwordOf(this.options) };
  }

  async shards() {
    const primary = await this.primary();
    return primary ? [oneShard(primary, this.nodes)] : [];
  }

  async missing(): Promise<string[]> {
    const silent = await notAnswering(this.nodes);
    if (silent.length > 0) return silent;
    const [primary, holders, managers] = await Promise.all([
      this.primary(),
      this.address.holders(),
      this.managerTrouble(),
    ]);
    if (!primary) return [`no server that has ${this.address.address} is a primary`, ...managers];
    const extra = holders.filter((host) => host !== primary.host);
    const replicas = this.nodes.filter((node) => node !== primary).map((node) => replicaTrouble(node, primary));
    return [
      ...extra.map((host) => `${host.name} has ${this.address.address}, too`),
      ...(await Promise.all(replicas)).filter((trouble) => trouble !== undefined),
      ...managers,
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    await Promise.all([this.manager.stop(), this.giving]);
    await Promise.all([this.address.close(), killAll(this.nodes)]);
  }

  /** The node that says it is a primary and whose host alone has the address. */
  private async primary(): Promise<ServerNode | undefined> {
    const roles = await Promise.all(this.nodes.map((node) => node.command('ROLE').catch(() => undefined)));
    const primaries = this.nodes.filter((_, at) => Array.isArray(roles[at]) && roles[at][0] === 'master');
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

  private give(name: string, why: string): void {
    this.wanted = this.nodes.find((node) => node.name === name)!;
    this.giving = Promise.all([this.giving, this.giveAddress(this.wanted, why)]);
  }

  /** Tries again until it is done, or another has been promoted meanwhile. */
  private async giveAddress(node: RedisServer, why: string): Promise<void> {
    const { clock, say } = this.context;
    const { name } = node;
    const fromNs = clock.nowNs();
    while (!this.closed && this.wanted === node) {
      try {
        await this.address.moveTo(node.host);
        const ms = Math.round((clock.nowNs() - fromNs) / 1e6);
        say(`failover manager: ${why}; ${this.address.address} moved to ${name} in ${ms} ms`);
        return;
      } catch (error) {
        say(`${this.address.address} could not be moved to ${name}: ${(error as Error).message}`);
        await clock.sleep(MOVE_AGAIN_MS);
      }
    }
  }
}

function settingsOf({ address }: AddressPower): Setting[] {
  const manager = (name: string, value: string, why: string) => ({ where: 'failover manager', name, value, why });
  return [
    {
      where: 'redis',
      name: 'bind',
      value: '0.0.0.0',
      why: "the virtual address comes and goes; there is nothing beyond the run's own network",
    },
    manager('virtual address', address, 'what clients connect to; never on two hosts, even if one is cut off'),
    manager(
      'down-after-milliseconds',
      String(DOWN_AFTER_MS),
      'a primary that has not answered PING for so long is down',
    ),
    manager('check-period', String(CHECK_EVERY_MS), 'PING and INFO to every server, in milliseconds'),
  ];
}
