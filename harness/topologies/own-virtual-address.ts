/**
 * A virtual address in a network that is the runtime's own (`OwnNetwork`): what the other implementation
 * (`virtual-address.ts`) asks of kernels, is asked of it.
 */
import type { Host, OwnNetwork } from '../vocabulary/host.js';
import type { AddressPower } from './virtual-address.js';

export class OwnVirtualAddress implements AddressPower {
  constructor(
    readonly address: string,
    private readonly hosts: readonly Host[],
    private readonly network: OwnNetwork,
  ) {}

  /** Such a network needs no announcing. */
  async prepare(): Promise<void> {}

  async isOn(host: Host): Promise<boolean> {
    return this.network.holderOf(this.address) === host.name;
  }

  async holders(): Promise<Host[]> {
    return this.hosts.filter(({ name }) => this.network.holderOf(this.address) === name);
  }

  async moveTo(host: Host): Promise<void> {
    this.network.moveAddress(this.address, host.name);
  }

  async close(): Promise<void> {}
}
