/**
 * A primary, its replicas and a failover manager; clients use a virtual address, which moves to whichever replica is promoted, as
 * keepalived or a cloud's floating address does it. Of whatever service: what is its own, a subclass adds.
 *
 * Who is primary is asked of the servers and of the hosts: the node that says so and whose host has the address. The
 * harness remembers nothing but whom it was last told to give the address to.
 */
import type { Host } from '../vocabulary/host.js';
import type { ServerNode, Setting, Topology, TopologyContext, TopologyDescription } from '../vocabulary/topology.js';
import type { Order } from './failover-manager/messages.js';
import { type FailoverManager, startFailoverManager } from './failover-manager/started.js';
import { oneShard } from './replication.js';
import type { AddressPower } from './virtual-address.js';

/** The name of its host. */
export const MANAGER = 'm1';
const CHECK_EVERY_MS = 100;
const MOVE_AGAIN_MS = 200;

/** What its manager is told beside who the servers are. */
export type Managing = Pick<Order, 'service' | 'password' | 'ca' | 'downAfterMs'>;

export abstract class FailoverDeployment<Node extends ServerNode> implements Topology {
  abstract readonly name: string;
  abstract readonly settings: readonly Setting[];
  readonly sentinels = [];
  readonly replicated = true;
  readonly quorum = { kind: 'primary' } as const;
  readonly replacedPrimary = 'leave';
  readonly watchers: readonly Host[];
  /** Who was last told to be the primary. */
  wanted: Node;
  protected closed = false;
  private readonly manager: FailoverManager;
  private giving: Promise<unknown> = Promise.resolve();

  constructor(
    readonly nodes: readonly Node[],
    managerHost: Host,
    protected readonly address: AddressPower,
    protected readonly context: TopologyContext,
    managing: Managing,
  ) {
    this.watchers = [managerHost];
    this.wanted = nodes[0]!;
    const order = {
      servers: nodes.map(({ name, host, port }) => ({ name, host: host.address, port })),
      primary: this.wanted.name,
      checkEveryMs: CHECK_EVERY_MS,
      ...managing,
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

  abstract describe(): TopologyDescription;
  abstract missing(): Promise<string[]>;
  /** What the server says of itself; false where it does not answer. */
  protected abstract saysPrimary(node: Node): Promise<boolean>;
  /** A server that must be built anew to follow another. */
  protected abstract rebuild(node: Node): void;
  /** A server has become the primary: what it writes from now on is its own. */
  protected promoted(_node: Node): void {}
  /** Ends every server. */
  protected abstract endServers(): Promise<void>;

  async shards() {
    const primary = await this.primary();
    return primary ? [oneShard(primary, this.nodes)] : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    await Promise.all([this.manager.stop(), this.giving]);
    await Promise.all([this.address.close(), this.endServers()]);
  }

  /** The node that says it is a primary and whose host alone has the address. */
  protected async primary(): Promise<Node | undefined> {
    const said = await Promise.all(this.nodes.map((node) => this.saysPrimary(node)));
    const primaries = this.nodes.filter((_, at) => said[at]);
    const holding = await Promise.all(primaries.map((node) => this.address.isOn(node.host)));
    const agreed = primaries.filter((_, at) => holding[at]);
    return agreed.length === 1 ? agreed[0] : undefined;
  }

  protected async managerTrouble(): Promise<string[]> {
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

  private named(name: string): Node {
    return this.nodes.find((node) => node.name === name)!;
  }

  private give(name: string, why: string): void {
    this.wanted = this.named(name);
    this.promoted(this.wanted);
    this.giving = Promise.all([this.giving, this.giveAddress(this.wanted, why)]);
  }

  /** Tries again until it is done, or another has been promoted meanwhile. */
  private async giveAddress(node: Node, why: string): Promise<void> {
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

/** How the manager is set, for people. `asks`: what it asks every server. */
export function managerSettings({ address }: AddressPower, downAfterMs: number, asks: string): Setting[] {
  const manager = (name: string, value: string, why: string) => ({ where: 'failover manager', name, value, why });
  return [
    manager('virtual address', address, 'what clients connect to; never on two hosts, even if one is cut off'),
    manager('down-after-milliseconds', String(downAfterMs), 'a primary that has not answered for so long is down'),
    manager('check-period', String(CHECK_EVERY_MS), `${asks} to every server, in milliseconds`),
  ];
}
