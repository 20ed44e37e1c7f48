/**
 * A primary with two replicas and one failover manager; clients use a virtual address, which moves to whichever replica is
 * promoted, as keepalived or a cloud's floating address does it.
 *
 * Who is primary is asked of the servers and of the hosts: the node that says so and whose host has the address. The
 * harness remembers nothing but whom it was last told to give the address to.
 */
import type { Host } from '../vocabulary/host.js';
import type {
  Setting,
  TopologyContext,
  TopologyDescription,
  TopologyKind,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { accessOf, dataNode, dataSettings, passwordOf } from './data-node.js';
import { FailoverDeployment, MANAGER, managerSettings } from './failover-deployment.js';
import { killAll } from './independent.js';
import { replicatedOutlook } from './outlooks.js';
import { OwnVirtualAddress } from './own-virtual-address.js';
import { notAnswering, startedOrThrow } from './ready.js';
import { REDIS_PORT, type RedisServer } from './redis-server.js';
import { REPLICATION, REPLICATION_SETTINGS, replicaTrouble } from './replication.js';
import { type AddressPower, VirtualAddress } from './virtual-address.js';

const DATA_NODES = ['r1', 'r2', 'r3'];
const DOWN_AFTER_MS = 500;
/** Measured: 0.55 to 0.7 s from the death of the primary until the address has moved. */
const EXPECTED_FAILOVER_MS = 700;
/** The address comes and goes, and a server can listen only to addresses that are there when it starts. */
const ANY_ADDRESS = 'bind 0.0.0.0';
const LISTENS_ANYWHERE: Setting = {
  where: 'redis',
  name: 'bind',
  value: '0.0.0.0',
  why: "the virtual address comes and goes; there is nothing beyond the run's own network",
};

export const replica: TopologyKind = {
  name: 'replica',
  service: 'redis',
  summary: 'one primary, two replicas, a virtual address that a failover manager moves to whom it promotes',
  defaultLock: 'set-nx-px',
  replicated: true,
  outlook: replicatedOutlook('replica'),
  quorum: 'primary',
  plannedFailover: 'primary',
  expectedFailoverMs: EXPECTED_FAILOVER_MS,
  hosts: () => ({ nodes: DATA_NODES, sentinels: [], managers: [MANAGER] }),
  async start(hosts, options, context) {
    const byName = new Map(hosts.map((host) => [host.name, host]));
    const [first, ...others] = DATA_NODES.map((name) => byName.get(name)!);
    const config = [ANY_ADDRESS, ...REPLICATION];
    const own = { alsoAt: [context.spareAddress] };
    const primary = dataNode(first!, options, context, config, own);
    const replicaOf = `replicaof ${first!.address} ${REDIS_PORT}`;
    const replicas = others.map((host) => dataNode(host, options, context, [...config, replicaOf], own));
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

class Deployment extends FailoverDeployment<RedisServer> {
  readonly name = 'replica';
  readonly settings: readonly Setting[];

  constructor(
    nodes: readonly RedisServer[],
    managerHost: Host,
    address: AddressPower,
    private readonly options: TopologyOptions,
    context: TopologyContext,
  ) {
    const ca = context.authority?.ca;
    super(nodes, managerHost, address, context, {
      ...passwordOf(options),
      ...(ca !== undefined && { ca }),
      downAfterMs: DOWN_AFTER_MS,
    });
    this.settings = [
      ...dataSettings(options),
      ...REPLICATION_SETTINGS,
      LISTENS_ANYWHERE,
      ...managerSettings(address, DOWN_AFTER_MS, 'PING and INFO'),
    ];
  }

  describe(): TopologyDescription {
    const node = { name: 'primary', host: this.address.address, port: REDIS_PORT };
    return { kind: 'replica', node, ...accessOf(this.options, this.context) };
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

  protected async saysPrimary(node: RedisServer): Promise<boolean> {
    const role = await node.command('ROLE').catch(() => undefined);
    return Array.isArray(role) && role[0] === 'master';
  }

  /** One that comes back is told to follow. */
  protected rebuild(): void {}

  protected endServers(): Promise<void> {
    return killAll(this.nodes);
  }
}
