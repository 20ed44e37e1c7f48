/**
 * Links that degrade: what a host sends to a peer comes late, in part, twice, out of order or slowly; and connections that are
 * reset. Several faults may shape one link: their delays add up, each loses its share of what the other leaves, and the
 * slowest rate counts. The first to heal leaves the others' share in force.
 *
 * A host has a link shaper only while something is asked of it. When that ends by itself, whatever the reason, what was asked of
 * its host's links ended then, and the kernel takes the way over it away: the grips say so.
 */
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { Host, LinkShape } from '../../harness/vocabulary/host.js';
import type { Clock, Random } from '../../harness/vocabulary/time.js';
import { message, words } from './basics.js';
import { LinkShaper, NEAR, NOTHING_ASKED, type Shown, shapedIn } from './link-shaper.js';
import { type EffectSeen, ended, type Grip, healOnce, type Pair } from './network.js';
import { Serial } from './serial.js';

const MILLION = 1_000_000;
const GONE_WITHIN_MS = 2_000;
const GONE_POLL_MS = 20;

/** A grip on links, which may end before it is healed. */
export interface LinkGrip extends Grip {
  /** Its effects with the end that they came to by themselves; empty while they last. */
  meanwhile(): FaultEffect[];
  /** The most that anything was carried later than asked, ms, once it is healed; Infinity: part of it is not known. */
  latestMs(): number;
}

/** What one host's shaper is wanted for. */
interface Shaped {
  shaper: LinkShaper;
  /** By peer: what each fault asks for. */
  wanted: Map<string, readonly LinkShape[]>;
}

interface Removed {
  proof: string;
  latestUs: number;
}

/** One host's part of what a fault asks for. */
interface Part {
  host: Host;
  peers: readonly Host[];
}

export class LinkLever {
  private readonly serial = new Serial();
  private readonly hosts = new Map<string, Shaped>();
  private started = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Shapes every pair and proves it; nothing is left in force by a rejection. */
  async shape(pairs: readonly Pair[], asked: Partial<LinkShape>): Promise<LinkGrip> {
    const shape = { ...NOTHING_ASKED, ...asked };
    const parts = partsOf(pairs);
    const done = await Promise.allSettled(parts.map((part) => this.add(part, shape)));
    const added = done.flatMap((one, at) => (one.status === 'fulfilled' ? [{ part: parts[at]!, ...one.value }] : []));
    let latestUs = 0;
    const heal = healOnce(added, async ({ part, shaper, before }) => {
      const removed = await this.remove(part, shape, shaper, before);
      latestUs = Math.max(latestUs, removed.latestUs);
      return removed.proof;
    });
    const failed = done.flatMap((one) => (one.status === 'rejected' ? [message(one.reason)] : []));
    if (failed.length > 0) {
      await heal();
      throw new Error(failed.join('; '));
    }
    const { gapMs: _, ...recorded } = shape;
    const named = pairs.map(([from, to]): [string, string] => [from.name, to.name]);
    const effects: EffectSeen[] = [{ kind: 'degraded', pairs: named, ...recorded, sinceNs: this.clock.nowNs() }];
    const led = added.map(
      ({ part: { host, peers }, shaper }) => `${host.name} to ${words(peers.map(({ name }) => name))} (${shaper.by})`,
    );
    return {
      proof: `routed through a link shaper that answers with what it was asked for: ${led.join('; ')}`,
      effects,
      heal,
      meanwhile: () => endedBy(added, effects),
      latestMs: () => latestUs / 1_000,
    };
  }

  /** What a host has sent to a peer through its shaper; rejects where nothing is asked of that link. */
  shown([host, peer]: Pair): Promise<Shown> {
    return this.serial.run(host.name, () => this.mustShape(host, peer).ask('show', peer));
  }

  /**
   * Has the shaper lose the next so many answers that the host sends to the peer from the port, each with its connection; 0:
   * no more. `numbers`: only those that are one, as that to DEL is. The link must be shaped, if only by a shape that asks for
   * nothing.
   */
  loseReplies([host, peer]: Pair, port: number, count: number, which: 'any' | 'numbers' = 'any'): Promise<Shown> {
    const only = which === 'any' ? [] : [which];
    return this.serial.run(host.name, () =>
      this.mustShape(host, peer).ask('reset-on-reply', peer, port, count, ...only),
    );
  }

  /** Resets one connection between the host and a peer; whether it is gone is the kernels' to say. */
  async reset([host, peer]: Pair, ownAddress: string, ownPort: number, peerPort: number): Promise<void> {
    await this.serial.run(host.name, () =>
      this.mustShape(host, peer).ask('reset', peer, ownAddress, ownPort, peerPort),
    );
  }

  /** What waits on these links never comes: they have been cut, and a shaper takes no notice of blackhole routes. */
  async drop(pairs: readonly Pair[]): Promise<void> {
    const dropped = pairs.map(([host, peer]) =>
      this.serial.run(host.name, async () => {
        const shaper = this.shaperFor(host, peer);
        if (shaper && shaper.diedNs === undefined) await shaper.ask('drop', peer);
      }),
    );
    await Promise.all(dropped);
  }

  /** What of a host's links is not as it was, read from the host; empty when all is well. */
  async trouble(host: Host): Promise<string[]> {
    const shaped = shapedIn(await routesOf(host));
    return shaped.length > 0 ? [`${host.name} still sends through a link shaper to ${words(shaped)}`] : [];
  }

  private shaperFor(host: Host, peer: Host): LinkShaper | undefined {
    const shaped = this.hosts.get(host.name);
    return shaped?.wanted.has(peer.name) ? shaped.shaper : undefined;
  }

  private mustShape(host: Host, peer: Host): LinkShaper {
    const shaper = this.shaperFor(host, peer);
    if (!shaper) throw new Error(`nothing shapes what ${host.name} sends to ${peer.name}`);
    return shaper;
  }

  /** Resolves also with what the shaper had done by then. */
  private add({ host, peers }: Part, shape: LinkShape): Promise<{ shaper: LinkShaper; before: Done }> {
    return this.serial.run(host.name, async () => {
      const shaped = await this.shaperOf(host);
      const { shaper, wanted } = shaped;
      const before = new Map(peers.map((peer) => [peer, wanted.get(peer.name) ?? []] as const));
      try {
        const shown: Shown[] = [];
        for (const [peer, shapes] of before) shown.push(await shaper.shape(peer, combined([...shapes, shape])));
        await shaper.route('replace', peers);
        for (const [peer, shapes] of before) wanted.set(peer.name, [...shapes, shape]);
        return { shaper, before: doneIn(shown) };
      } catch (error) {
        if (shaper.diedNs === undefined) await this.settle(shaped, before).catch(() => {});
        else this.hosts.delete(host.name);
        throw error;
      }
    });
  }

  private remove({ host, peers }: Part, shape: LinkShape, from: LinkShaper, before: Done): Promise<Removed> {
    return this.serial.run(host.name, async () => {
      if (from.diedNs !== undefined) {
        if (this.hosts.get(host.name)?.shaper === from) this.hosts.delete(host.name);
        await this.gone(host, from.near);
        const proof = `the link shaper of ${host.name} had ended before, and no route leads to it any more`;
        return { proof, latestUs: Number.POSITIVE_INFINITY };
      }
      const shaped = this.hosts.get(host.name)!;
      const others = peers.map((peer) => [peer, shaped.wanted.get(peer.name)!.filter((one) => one !== shape)] as const);
      const now = await this.settle(shaped, new Map(others));
      const kept = others.flatMap(([peer, shapes]) => (shapes.length > 0 ? [peer.name] : []));
      const still = kept.length > 0 ? ` (kept degraded by another fault: to ${words(kept)})` : '';
      return { proof: `${host.name} ${inWords(now, before)}${still}`, latestUs: now.latestUs };
    });
  }

  /**
   * Leaves each link as the others ask for. Where that is nothing, what waits goes at once, and the host sends to the peer as
   * it did; where nothing is left to do the shaper ends. Resolves with what was done until then.
   */
  private async settle({ shaper, wanted }: Shaped, others: ReadonlyMap<Host, readonly LinkShape[]>): Promise<Done> {
    const done: Shown[] = [];
    const whole: Host[] = [];
    for (const [peer, shapes] of others) {
      done.push(await shaper.shape(peer, combined(shapes)));
      if (shapes.length > 0) continue;
      await shaper.ask('reset-on-reply', peer, 0, 0);
      whole.push(peer);
    }
    if (whole.length > 0) await shaper.route('del', whole);
    for (const [peer, shapes] of others) {
      if (shapes.length > 0) wanted.set(peer.name, shapes);
      else wanted.delete(peer.name);
    }
    if (wanted.size === 0) {
      this.hosts.delete(shaper.host.name);
      await shaper.end();
    }
    return doneIn(done);
  }

  /** The kernel takes a device and its routes away in its own time. */
  private async gone(host: Host, near: string): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += GONE_POLL_MS) {
      const left = shapedIn(await routesOf(host), near);
      if (left.length === 0) return;
      if (waitedMs >= GONE_WITHIN_MS) throw new Error(`${host.name} still has routes over ${near} to ${words(left)}`);
      await this.clock.sleep(GONE_POLL_MS);
    }
  }

  private async shaperOf(host: Host): Promise<Shaped> {
    const known = this.hosts.get(host.name);
    if (known && known.shaper.diedNs === undefined) return known;
    // A name that is new: the device of one that died may still be there.
    const near = `${NEAR}${this.started++}`;
    const seed = this.random.fork(`${host.name} ${near}`).int(0, 2 ** 31 - 1);
    const fresh = { shaper: await LinkShaper.start(host, near, seed, this.clock), wanted: new Map() };
    this.hosts.set(host.name, fresh);
    return fresh;
  }
}

/** Several shapes of one link as one. */
export function combined(shapes: readonly LinkShape[]): LinkShape {
  const sum = (of: (shape: LinkShape) => number) => shapes.reduce((total, shape) => total + of(shape), 0);
  const either = (of: (shape: LinkShape) => number) =>
    Math.round(MILLION * (1 - shapes.reduce((none, shape) => none * (1 - of(shape) / MILLION), 1)));
  const rates = shapes.map(({ rateKbps }) => rateKbps).filter((rate) => rate > 0);
  return {
    delayMs: sum(({ delayMs }) => delayMs),
    jitterMs: sum(({ jitterMs }) => jitterMs),
    lossPpm: either(({ lossPpm }) => lossPpm),
    duplicatePpm: either(({ duplicatePpm }) => duplicatePpm),
    reorderPpm: either(({ reorderPpm }) => reorderPpm),
    gapMs: Math.max(0, ...shapes.map(({ gapMs }) => gapMs)),
    rateKbps: rates.length > 0 ? Math.min(...rates) : 0,
  };
}

function endedBy(added: readonly { shaper: LinkShaper }[], effects: readonly EffectSeen[]): FaultEffect[] {
  const died = added.flatMap(({ shaper: { diedNs } }) => (diedNs === undefined ? [] : [diedNs]));
  // Of several hosts one has whole links again: that all are degraded is certain until then.
  return died.length > 0 ? ended(effects, Math.min(...died)) : [];
}

/** What a shaper did, for all peers of a part together. */
interface Done {
  counts: Record<'packets' | 'lost' | 'twice' | 'reordered' | 'too many at once' | 'not sent', number>;
  /** The most that one was released too late, us, since the shaper was started. */
  latestUs: number;
}

function doneIn(shown: readonly Shown[]): Done {
  const sum = (of: (one: Shown) => number) => shown.reduce((total, one) => total + of(one), 0);
  return {
    counts: {
      packets: sum(({ taken }) => taken),
      lost: sum(({ lost }) => lost),
      twice: sum(({ duplicated }) => duplicated),
      reordered: sum(({ reordered }) => reordered),
      'too many at once': sum(({ overflowed }) => overflowed),
      'not sent': sum(({ errors }) => errors),
    },
    latestUs: Math.max(...shown.map(({ latest_us }) => latest_us)),
  };
}

/** "sent 372 packets, 41 lost, 0.4 ms later than asked at the most" */
function inWords({ counts, latestUs }: Done, before: Done): string {
  const { packets, ...others } = counts;
  const told = Object.entries(others).flatMap(([what, count]) => {
    const since = count - before.counts[what as keyof typeof counts];
    return since > 0 ? [`${since} ${what}`] : [];
  });
  const late = latestUs > 0 ? [`${(latestUs / 1_000).toFixed(1)} ms later than asked at the most`] : [];
  return [`sent ${packets - before.counts.packets} packets`, ...told, ...late].join(', ');
}

function partsOf(pairs: readonly Pair[]): Part[] {
  const parts = new Map<string, { host: Host; peers: Host[] }>();
  for (const [host, peer] of pairs) {
    const part = parts.get(host.name) ?? { host, peers: [] };
    part.peers.push(peer);
    parts.set(host.name, part);
  }
  return [...parts.values()];
}

async function routesOf(host: Host): Promise<string> {
  const result = await host.exec(['ip', '-json', 'route', 'show']);
  if (result.exitCode !== 0) throw new Error(`${host.name}: its routes cannot be read: ${result.stderr}`);
  return result.stdout;
}
