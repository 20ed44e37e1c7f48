/**
 * Links that degrade in a network that is the runtime's own (`OwnNetwork`). It knows messages and no packets: it can delay them,
 * reset connections, and lose an answer with its connection. What happens to packets (lost, twice, out of order, a rate) it refuses.
 */
import type { Host, OwnNetwork } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { Refusal, words } from './basics.js';
import { type LinkShape, type LostReplies, NOTHING_ASKED } from './link-shaper.js';
import { combined, type LinkGrip } from './links.js';
import { type EffectSeen, healOnce, type Pair } from './network.js';

export class OwnLinkLever {
  /** "from>to" → what each fault asks for. */
  private readonly wanted = new Map<string, readonly LinkShape[]>();

  constructor(
    private readonly network: OwnNetwork,
    private readonly clock: Clock,
  ) {}

  async shape(pairs: readonly Pair[], asked: Partial<LinkShape>): Promise<LinkGrip> {
    const shape = { ...NOTHING_ASKED, ...asked };
    const { delayMs, jitterMs, gapMs, ...ofPackets } = shape;
    if (gapMs > 0 || Object.values(ofPackets).some((part) => part > 0))
      throw new Refusal('a simulated network carries messages, not packets: it can only delay them');
    for (const pair of pairs) this.ask(pair, [...this.of(pair), shape]);
    const named = pairs.map(([from, to]): [string, string] => [from.name, to.name]);
    const effects: EffectSeen[] = [
      { kind: 'degraded', pairs: named, delayMs, jitterMs, ...ofPackets, sinceNs: this.clock.nowNs() },
    ];
    const links = words(named.map(([from, to]) => `${from} to ${to}`));
    return {
      proof: `${delayMs} ms later, ${jitterMs} ms more or less: ${links}`,
      effects,
      heal: healOnce([pairs], async () => {
        for (const pair of pairs)
          this.ask(
            pair,
            this.of(pair).filter((one) => one !== shape),
          );
        const kept = pairs.filter(([from, to]) => this.network.isDelayed(from.name, to.name));
        return kept.length > 0 ? `${links}: kept degraded by another fault` : `${links}: as usual`;
      }),
      meanwhile: () => [],
      latestMs: () => 0,
    };
  }

  async shown([host, peer]: Pair): Promise<LostReplies> {
    const { left, ports } = this.network.lostReplies(host.name, peer.name);
    return { replies: left, resets: ports.length, reset_ports: [...ports] };
  }

  async loseReplies(pair: Pair, port: number, count: number, which: 'any' | 'numbers' = 'any'): Promise<LostReplies> {
    const [host, peer] = pair;
    this.network.loseReplies(host.name, peer.name, port, count, which);
    return this.shown(pair);
  }

  async reset([host, peer]: Pair, _ownAddress: string, ownPort: number, peerPort: number): Promise<void> {
    this.network.reset(host.name, peer.name, ownPort, peerPort);
  }

  /** What waits at a cut goes on its way when the cut is healed, in order. */
  async drop(): Promise<void> {}

  async trouble({ name }: Host): Promise<string[]> {
    const left = [...this.wanted.keys()].filter((key) => {
      const [from = '', to = ''] = key.split('>');
      return from === name && this.network.isDelayed(from, to);
    });
    return left.length > 0 ? [`still delayed: ${words(left)}`] : [];
  }

  private of([from, to]: Pair): readonly LinkShape[] {
    return this.wanted.get(`${from.name}>${to.name}`) ?? [];
  }

  private ask([from, to]: Pair, shapes: readonly LinkShape[]): void {
    this.wanted.set(`${from.name}>${to.name}`, shapes);
    const { delayMs, jitterMs } = combined(shapes);
    this.network.delay(from.name, to.name, delayMs > 0 ? { delayMs, jitterMs } : undefined);
  }
}
