/**
 * Cuts in a network that is the runtime's own (`OwnNetwork`): what the other implementation (`network.ts`) asks of kernels, is
 * asked of it. With reference counts, as there, and read back from it.
 */
import type { Host, OwnNetwork } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { words } from './basics.js';
import { type EffectSeen, type Grip, healOnce, type Pair } from './network.js';

export class OwnNetworkLever {
  /** "from>to" → how many faults want it cut. */
  private readonly wanted = new Map<string, number>();
  private readonly offs = new Map<string, number>();

  constructor(
    private readonly network: OwnNetwork,
    private readonly clock: Clock,
  ) {}

  async cut(pairs: readonly Pair[]): Promise<Grip> {
    for (const pair of pairs) this.count(pair, 1);
    const left = pairs.filter(([from, to]) => !this.network.isCut(from.name, to.name));
    if (left.length > 0) throw new Error(`not cut: ${inWords(left)}`);
    const named = pairs.map(([from, to]): [string, string] => [from.name, to.name]);
    return {
      proof: `nothing passes from ${inWords(pairs)}`,
      effects: [{ kind: 'cut', pairs: named, sinceNs: this.clock.nowNs() }],
      heal: healOnce([pairs], async () => {
        for (const pair of pairs) this.count(pair, -1);
        const kept = pairs.filter(([from, to]) => this.network.isCut(from.name, to.name));
        return kept.length > 0 ? `kept cut by another fault: ${inWords(kept)}` : `all passes again: ${inWords(pairs)}`;
      }),
    };
  }

  isCut([one, other]: Pair): boolean {
    return (
      this.network.isCut(one.name, other.name) ||
      this.network.isCut(other.name, one.name) ||
      [one, other].some(({ name }) => (this.offs.get(name) ?? 0) > 0)
    );
  }

  async off(host: Host): Promise<Grip> {
    this.takeOff(host, 1);
    const effect: EffectSeen = { kind: 'off-network', who: [host.name], sinceNs: this.clock.nowNs() };
    return {
      proof: `nothing passes from or to ${host.name}`,
      effects: [effect],
      heal: healOnce([host], async () => {
        this.takeOff(host, -1);
        return (this.offs.get(host.name) ?? 0) > 0
          ? `${host.name} is kept off the network by another fault`
          : `${host.name} is on the network again`;
      }),
    };
  }

  /** There is no filter by reverse path in such a network. */
  async oneWayTrouble(): Promise<string[]> {
    return [];
  }

  async trouble({ name }: Host): Promise<string[]> {
    const cut = [...this.wanted.keys()].filter((key) => {
      const [from = '', to = ''] = key.split('>');
      return from === name && this.network.isCut(from, to);
    });
    const off = this.network.isCut(name, EVERYBODY) ? [`${name} is off the network`] : [];
    return [...(cut.length > 0 ? [`still cut: ${words(cut)}`] : []), ...off];
  }

  private count([from, to]: Pair, by: number): void {
    const key = `${from.name}>${to.name}`;
    const wanted = (this.wanted.get(key) ?? 0) + by;
    this.wanted.set(key, wanted);
    if (wanted > 0) this.network.cut(from.name, to.name);
    else this.network.heal(from.name, to.name);
  }

  private takeOff({ name }: Host, by: number): void {
    const wanted = (this.offs.get(name) ?? 0) + by;
    this.offs.set(name, wanted);
    for (const [from, to] of [
      [name, EVERYBODY],
      [EVERYBODY, name],
    ] as const) {
      if (wanted > 0) this.network.cut(from, to);
      else this.network.heal(from, to);
    }
  }
}

/** In place of a host's name. */
const EVERYBODY = '*';

function inWords(pairs: readonly Pair[]): string {
  return words(pairs.map(([from, to]) => `${from.name} to ${to.name}`));
}
