/**
 * An address that is on one of several hosts at a time and can be moved: taken from its host, given to another, and
 * announced, so that everybody's next packet to it goes there. Old connections are then reset by the new host.
 *
 * It moves through the harness's own way into the hosts, which no fault cuts, as a cloud's control plane takes an address
 * from a machine that is itself cut off. So it is never on two hosts, and a server that is cut off cannot keep it.
 */
import type { Host } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';
import { DEVICE, type DeviceState, IpSession } from './ip-session.js';

const ARP_NOTIFY = '/proc/sys/net/ipv4/conf/all/arp_notify';
const ALLOW_ANNOUNCING = `echo 1 > ${ARP_NOTIFY}; cat ${ARP_NOTIFY}`;

/** What every implementation of it can do. */
export type AddressPower = Pick<VirtualAddress, keyof VirtualAddress>;

export class VirtualAddress {
  private last: Promise<unknown> = Promise.resolve();
  private readonly sessions: ReadonlyMap<Host, IpSession>;

  constructor(
    readonly address: string,
    private readonly hosts: readonly Host[],
    clock: Clock,
  ) {
    this.sessions = new Map(hosts.map((host) => [host, new IpSession(host, clock)]));
  }

  /** Makes the hosts tell their network when they get an address. Rejects where that is not possible. */
  async prepare(): Promise<void> {
    await Promise.all(
      this.hosts.map(async (host) => {
        const { stdout, stderr } = await host.exec(['sh', '-c', ALLOW_ANNOUNCING]);
        if (stdout.trim() === '1') return;
        throw new Error(`${host.name} cannot announce an address: ${ARP_NOTIFY} cannot be set (${stderr})`);
      }),
    );
  }

  /** Read from the host itself. */
  async isOn(host: Host): Promise<boolean> {
    return this.isIn(await this.stateOf(host));
  }

  /** Hosts that have it, read from all of them. */
  async holders(): Promise<Host[]> {
    const on = await Promise.all(this.hosts.map((host) => this.isOn(host)));
    return this.hosts.filter((_, at) => on[at]);
  }

  /** Moves it, after all moves before; resolves once the host has it and has announced it. */
  moveTo(host: Host): Promise<void> {
    const moved = this.last.then(() => this.move(host));
    this.last = moved.catch(() => {});
    return moved;
  }

  /** Stops watching over it; its host keeps it. */
  async close(): Promise<void> {
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
  }

  private async move(host: Host): Promise<void> {
    // First taken from all others, then given: for a moment no host has it, and never do two.
    const others = this.hosts.filter((other) => other !== host);
    const [{ mac }, ...after] = await Promise.all([
      this.stateOf(host),
      ...others.map((other) => this.stateOf(other, [`addr del ${this.assigned}`])),
    ]);
    const keep = others.filter((_, at) => this.isIn(after[at]!));
    if (keep.length > 0) throw new Error(`${keep.map(({ name }) => name).join(', ')} did not let go of it`);
    // The kernel announces all addresses of a device that is given a link address, the one that it has included.
    const state = await this.stateOf(host, [`addr add ${this.assigned}`, `link set ${DEVICE} address ${mac}`]);
    if (!this.isIn(state)) throw new Error(`${host.name} did not take it`);
  }

  private get assigned(): string {
    return `${this.address}/32 dev ${DEVICE}`;
  }

  /** What the host has after these commands. A change that is not needed is no error. */
  private stateOf(host: Host, commands: readonly string[] = []): Promise<DeviceState> {
    return this.sessions.get(host)!.run(commands);
  }

  private isIn({ addresses }: DeviceState): boolean {
    return addresses.includes(this.address);
  }
}
