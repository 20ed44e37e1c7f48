/**
 * Links that degrade in a network that is the runtime's own (`OwnNetwork`). It carries messages, not packets, and so as users of TCP
 * see what happens to their packets; it resets connections, and loses an answer with its connection.
 */
import type { Host, LinkCounts, LinkShape, OwnNetwork } from '../../harness/vocabulary/host.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { words } from './basics.js';
import { type LostReplies, NOTHING_ASKED } from './link-shaper.js';
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
    for (const pair of pairs) this.ask(pair, [...this.of(pair), shape]);
    const named = pairs.map(([from, to]): [string, string] => [from.name, to.name]);
    const { gapMs: _, ...recorded } = shape;
    const effects: EffectSeen[] = [{ kind: 'degraded', pairs: named, ...recorded, sinceNs: this.clock.nowNs() }];
    const links = words(named.map(([from, to]) => `${from} to ${to}`));
    const before = this.done(pairs);
    return {
      proof: `${inWords(shape)}: ${links}`,
      effects,
      heal: healOnce([pairs], async () => {
        for (const pair of pairs)
          this.ask(
            pair,
            this.of(pair).filter((one) => one !== shape),
          );
        const kept = pairs.filter(([from, to]) => this.network.shapeOf(from.name, to.name));
        const done = doneInWords(this.done(pairs), before);
        return `${links}: ${kept.length > 0 ? 'kept degraded by another fault' : 'as usual'}, after ${done}`;
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
      return from === name && this.network.shapeOf(from, to) !== undefined;
    });
    return left.length > 0 ? [`still degraded: ${words(left)}`] : [];
  }

  private of([from, to]: Pair): readonly LinkShape[] {
    return this.wanted.get(`${from.name}>${to.name}`) ?? [];
  }

  private ask([from, to]: Pair, shapes: readonly LinkShape[]): void {
    this.wanted.set(`${from.name}>${to.name}`, shapes);
    const asked = combined(shapes);
    const { name } = from;
    this.network.shape(name, to.name, Object.values(asked).some((part) => part > 0) ? asked : undefined);
    const shown = this.network.shapeOf(name, to.name) ?? NOTHING_ASKED;
    if (PARTS.some((part) => shown[part] !== asked[part]))
      throw new Error(`${name} to ${to.name}: asked for ${JSON.stringify(asked)}, and it is ${JSON.stringify(shown)}`);
  }

  private done(pairs: readonly Pair[]): LinkCounts {
    const counts = pairs.map(([from, to]) => this.network.countsOf(from.name, to.name));
    const sum = (of: keyof LinkCounts) => counts.reduce((total, one) => total + one[of], 0);
    return { messages: sum('messages'), lost: sum('lost'), twice: sum('twice'), overtaken: sum('overtaken') };
  }
}

const PARTS = Object.keys(NOTHING_ASKED) as (keyof LinkShape)[];

function inWords({ delayMs, jitterMs, lossPpm, duplicatePpm, reorderPpm, gapMs, rateKbps }: LinkShape): string {
  const percent = (ppm: number) => `${ppm / 10_000} %`;
  const told = [
    ...(lossPpm > 0 ? [`${percent(lossPpm)} of the packets lost, and sent again`] : []),
    ...(duplicatePpm > 0 ? [`${percent(duplicatePpm)} of the packets twice`] : []),
    ...(reorderPpm > 0 ? [`${percent(reorderPpm)} of the packets ${gapMs} ms late`] : []),
    ...(rateKbps > 0 ? [`${rateKbps} kB/s at the most`] : []),
  ];
  return delayMs > 0 || told.length === 0
    ? [`${delayMs} ms later, ${jitterMs} ms more or less`, ...told].join(', ')
    : told.join(', ');
}

/** "372 messages, 41 packets lost" */
function doneInWords(now: LinkCounts, before: LinkCounts): string {
  const since = (of: keyof LinkCounts) => now[of] - before[of];
  const told = [
    ...(since('lost') > 0 ? [`${since('lost')} times one lost and sent again`] : []),
    ...(since('twice') > 0 ? [`${since('twice')} twice`] : []),
    ...(since('overtaken') > 0 ? [`${since('overtaken')} overtaken`] : []),
  ];
  return [`${since('messages')} messages`, ...told].join(', ');
}
