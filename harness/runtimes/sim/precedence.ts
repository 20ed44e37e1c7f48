/**
 * In what order servers hear what clients ask, where several ask at about the same time: by priorities, as in probabilistic
 * concurrency testing (PCT; Burckhardt et al., ASPLOS 2010). A request waits while anybody who comes before its client is about
 * something, and one of them can be held back for a time, whose connection comes after all others from then on.
 *
 * Excludes answers, and what servers say to each other. What is sent on one connection keeps its order. Nobody waits for longer than
 * was said: who is served all the time would starve the others, as nothing does in a network.
 */
import type { HeldBack, OwnPrecedence } from '../../vocabulary/host.js';
import { GoingOn } from './going-on.js';
import type { Appointment, Timeline } from './timeline.js';

/** A connection as far as this matters. */
export interface Ranked {
  readonly dialer: { readonly host: string };
  readonly listener: { readonly host: string };
  /** Messages that are on their way on it, both ways together, but for those that meet a cut. */
  underWay: number;
}

interface Waiting {
  come(): void;
  /** Not before this, whoever asks for something. */
  readonly fromNs: number;
  /** By then at the latest. */
  readonly untilNs: number;
  readonly asked?: Asked;
}

/** That one request is to be held back. */
interface Asked {
  /**
   * Among all that were asked for, whenever they are held back: PCT gives its change points their priorities beforehand, too, or of two
   * threads that lose theirs the first to do so would always come before the other.
   */
  readonly rank: number;
  left: number;
  readonly hosts: ReadonlySet<string>;
  readonly goingOn: boolean;
  readonly forNs: number;
  held(request: HeldBack): void;
  over(): void;
}

/** Who has heard something goes on within this time, if it does so by itself: what it is told by the harness takes 40 µs. */
const SETTLES_NS = 100_000;

export class Precedence implements OwnPrecedence {
  /** Hosts; who is first is heard first. Who is not there waits for nobody, and nobody for them. */
  private order: readonly string[] = [];
  private withinNs = 0;
  private readonly asked = new Set<Asked>();
  /** Connections of which a request was held back, with their rank among these: that of who asked for it last is the last. */
  private readonly last = new Map<Ranked, number>();
  private everAsked = 0;
  private readonly queues = new Map<Ranked, Waiting[]>();
  private readonly heardNs = new Map<Ranked, number>();
  private readonly going: GoingOn;
  private due: Appointment | undefined;

  /** `open`: connections that neither end has closed. `inTurn`: has whoever asked for something hear of it in the harness's turn. */
  constructor(
    private readonly timeline: Timeline,
    private readonly open: ReadonlySet<Ranked>,
    private readonly inTurn: (hear: () => void) => void,
  ) {
    this.going = new GoingOn(timeline);
  }

  get isSet(): boolean {
    return this.order.length > 0;
  }

  set(order: readonly string[] | undefined, withinMs: number): void {
    this.order = order ?? [];
    this.withinNs = withinMs * 1e6;
    if (!order) this.last.clear();
    this.lookSoon(this.timeline.nowNs);
  }

  holdBack(
    nth: number,
    forMs: number,
    { hosts, goingOn }: { hosts: readonly string[]; goingOn: boolean },
    { held, over }: { held(request: HeldBack): void; over(): void },
  ): () => void {
    const asked: Asked = {
      rank: this.everAsked++,
      left: nth,
      hosts: new Set(hosts),
      goingOn,
      forNs: Math.round(forMs * 1e6),
      held: (request) => this.inTurn(() => held(request)),
      over: () => this.inTurn(over),
    };
    this.asked.add(asked);
    return () => {
      this.asked.delete(asked);
      for (const queue of this.queues.values())
        for (const [n, one] of queue.entries()) if (one.asked === asked) queue[n] = { ...one, fromNs: 0, untilNs: 0 };
      this.lookSoon(this.timeline.nowNs);
    };
  }

  /** Of answers since a request was to be held back. */
  goesOn(host: string): boolean {
    return this.going.goesOn(host);
  }

  /**
   * A message has come: `come` is called now, or when it is its turn. `request`: of what a host sends to where it has connected, but for
   * the connection's end, whether it went on with it.
   */
  arrives(connection: Ranked, isBack: boolean, request: { goesOn: boolean } | undefined, come: () => void): void {
    const isRequest = request !== undefined;
    if (isBack && this.asked.size > 0) this.going.heard(connection.dialer.host);
    const asked = request && this.askedFor(connection, request.goesOn);
    const queue = this.queues.get(connection);
    const { nowNs } = this.timeline;
    if (this.isSet) this.heardNs.set(connection, nowNs);
    const waits = isRequest && (asked !== undefined || this.isBefore(connection));
    if (isBack || !(queue || waits)) come();
    else {
      const fromNs = nowNs + (asked?.forNs ?? 0);
      const waiting = { come, fromNs, untilNs: fromNs + this.withinNs, ...(asked && { asked }) };
      if (queue) queue.push(waiting);
      else this.queues.set(connection, [waiting]);
      if (asked) {
        if (this.isSet) this.last.set(connection, asked.rank);
        asked.held({ from: connection.dialer.host, to: connection.listener.host });
      }
    }
    this.lookSoon(nowNs);
  }

  private askedFor(connection: Ranked, goesOn: boolean): Asked | undefined {
    let found: Asked | undefined;
    for (const one of this.asked) {
      if (!one.hosts.has(connection.dialer.host) || (one.goingOn && !goesOn)) continue;
      if (--one.left > 0 || found) continue;
      this.asked.delete(one);
      found = one;
    }
    return found;
  }

  /** Undefined: it has none. */
  private rankOf(connection: Ranked): number | undefined {
    const last = this.last.get(connection);
    if (last !== undefined) return this.order.length + last;
    const rank = this.order.indexOf(connection.dialer.host);
    return rank < 0 ? undefined : rank;
  }

  private isBefore(connection: Ranked): boolean {
    return this.settlesAtNs(connection) !== undefined;
  }

  /**
   * When whoever comes before this one waits for something, as far as that is known: Infinity where they are about something whose end
   * is somebody's answer; undefined: now.
   */
  private settlesAtNs(connection: Ranked): number | undefined {
    const rank = this.rankOf(connection);
    if (rank === undefined) return undefined;
    const { nowNs } = this.timeline;
    let atNs: number | undefined;
    for (const other of this.open) {
      const before = other === connection ? undefined : this.rankOf(other);
      if (before === undefined || before >= rank) continue;
      const [head] = this.queues.get(other) ?? [];
      if (other.underWay > 0 || (head && head.fromNs <= nowNs)) return Number.POSITIVE_INFINITY;
      const settlesNs = (this.heardNs.get(other) ?? Number.NEGATIVE_INFINITY) + SETTLES_NS;
      if (settlesNs > nowNs) atNs = Math.max(atNs ?? 0, settlesNs);
    }
    return atNs;
  }

  private lookSoon(atNs: number): void {
    if (this.queues.size === 0 || (this.due && this.due.atNs <= atNs)) return;
    this.due?.cancel();
    this.due = this.timeline.at(atNs, () => {
      this.due = undefined;
      this.look();
    });
  }

  /** Lets one come, in a happening of its own: what follows from it is in the turn of whoever hears it. */
  private look(): void {
    const { nowNs } = this.timeline;
    let nextNs = Number.POSITIVE_INFINITY;
    for (const [connection, queue] of this.queues) {
      const [head] = queue;
      const { fromNs, untilNs } = head!;
      const settlesNs = fromNs > nowNs || untilNs <= nowNs ? undefined : this.settlesAtNs(connection);
      const readyNs = Math.max(fromNs, Math.min(untilNs, settlesNs ?? nowNs));
      if (readyNs > nowNs) nextNs = Math.min(nextNs, readyNs);
      else {
        queue.shift();
        if (queue.length === 0) this.queues.delete(connection);
        this.heardNs.set(connection, nowNs);
        head!.asked?.over();
        this.lookSoon(nowNs);
        head!.come();
        return;
      }
    }
    if (nextNs < Number.POSITIVE_INFINITY) this.lookSoon(nextNs);
  }
}
