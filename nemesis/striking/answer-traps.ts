/**
 * Answers of nodes to clients that are to be lost, each with its connection: the link shaper is asked to lose the next one by
 * each of some ways. Several may go before the shapers can be asked to lose no more; each is told of.
 */
import { Refusal } from '../levers/basics.js';
import type { LinkPower } from '../levers/index.js';
import type { LostReplies } from '../levers/link-shaper.js';
import type { Pair } from '../levers/network.js';
import type { NemesisContext } from './context.js';
import type { LastCommands } from './last-commands.js';
import type { StruckClient } from './targets.js';

/** By which a client is answered. */
interface Way {
  struck: StruckClient;
  watch: LastCommands;
  pair: Pair;
  /** The pair's name. */
  link: string;
}

export interface LostAnswer extends Way {
  /** The client's, of the connection that was reset; where there is a doubt, of all that were. */
  ports: readonly number[];
  /** Why it cannot be told whose answer was lost, or whether one was. */
  doubt?: string;
}

/** By run, links on which an answer is waited for: of two steps that wait for one it could not be told whose was lost. */
const waitedFor = new WeakMap<LinkPower, Set<string>>();

export class AnswerTraps {
  private readonly links: LinkPower;
  private readonly claimed: Set<string>;
  /** With how many connections had been reset when that was last told. */
  private readonly set = new Map<Way, number>();
  private readonly lost: LostAnswer[] = [];
  /** Why nothing is waited for, by the client's name. */
  private readonly refused = new Map<string, string>();

  constructor(
    private readonly watches: readonly LastCommands[],
    private readonly which: 'any' | 'numbers',
    private readonly context: Pick<NemesisContext, 'levers'>,
  ) {
    this.links = context.levers.links;
    this.claimed = waitedFor.get(this.links) ?? new Set();
    waitedFor.set(this.links, this.claimed);
  }

  /** Waits for answers to these clients as far as it can (see `trouble`), and to no others any more. */
  async setFor(wanted: readonly StruckClient[]): Promise<void> {
    const isWanted = (name: string) => wanted.some((struck) => struck.name === name);
    for (const way of [...this.set.keys()]) if (!isWanted(way.struck.name)) await this.unset(way);
    const isSet = (name: string) => [...this.set.keys()].some(({ struck }) => struck.name === name);
    for (const struck of wanted) if (!isSet(struck.name)) await this.setForOne(struck);
  }

  /** What was lost since that was last told. */
  async sprung(): Promise<LostAnswer[]> {
    for (const way of this.set.keys()) await this.look(way);
    return this.lost.splice(0);
  }

  /** Waits for no more; resolves with what was lost since that was last told. */
  async clear(): Promise<LostAnswer[]> {
    const done = await Promise.allSettled([...this.set.keys()].map((way) => this.unset(way)));
    for (const one of done) if (one.status === 'rejected') throw one.reason;
    return this.lost.splice(0);
  }

  /** Why it waits for nobody, where that is so. */
  trouble(): Refusal | undefined {
    const [why] = this.refused.values();
    return this.set.size === 0 && why !== undefined ? new Refusal(why) : undefined;
  }

  private async setForOne(struck: StruckClient): Promise<void> {
    const pairs = this.watches.map(
      (watch): Pick<Way, 'watch' | 'pair'> => ({ watch, pair: [watch.node.host, struck.host] }),
    );
    const ways = pairs
      .filter(({ pair }) => !this.context.levers.network.isCut(pair))
      .map(({ watch, pair }): Way => ({ struck, watch, pair, link: pair.map(({ name }) => name).join('>') }));
    const free = ways.filter(({ link }) => !this.claimed.has(link));
    this.refused.delete(struck.name);
    if (ways.length === 0) this.refused.set(struck.name, `${struck.name} is cut off from every node`);
    else if (free.length === 0)
      this.refused.set(struck.name, `another step already waits for an answer to ${struck.name}`);
    for (const way of free) {
      this.claimed.add(way.link);
      this.set.set(way, Number.POSITIVE_INFINITY);
      const { resets } = await this.links.shown(way.pair);
      await this.links.loseReplies(way.pair, way.watch.node.port, 1, this.which);
      this.set.set(way, resets);
    }
  }

  private async unset(way: Way): Promise<void> {
    try {
      await this.look(way);
      const ports = this.resetSince(way, await this.links.loseReplies(way.pair, way.watch.node.port, 0));
      if (ports.length > 0) this.lost.push({ ...way, ports, doubt: 'another fault may have reset it' });
    } finally {
      this.set.delete(way);
      this.claimed.delete(way.link);
    }
  }

  private async look(way: Way): Promise<void> {
    const shown = await this.links.shown(way.pair);
    const ports = this.resetSince(way, shown);
    // Connections that another fault reset, and the answer is still waited for.
    if (ports.length === 0 || shown.replies > 0) return;
    const doubt = ports.length > 1 ? 'another fault has reset one of them' : undefined;
    this.lost.push({ ...way, ports, ...(doubt !== undefined && { doubt }) });
  }

  /** Ports of connections that were reset since that was last told. */
  private resetSince(way: Way, { resets, reset_ports }: LostReplies): readonly number[] {
    const more = resets - this.set.get(way)!;
    if (more <= 0) return [];
    this.set.set(way, resets);
    return reset_ports.slice(-more);
  }
}
