/**
 * The network of a simulated run: connections between hosts, and every message on them as something that is to happen.
 *
 * As TCP has it: in order on each way of a connection, nothing lost for good. What meets a cut waits for its end, and then a little
 * for the next retransmission; a connection that ends without a word is not noticed on the other side of a cut. What links do
 * besides is in `links.ts`.
 */
import type { Message } from '../../record/messages.js';
import type { LinkCounts, LinkShape, OwnNetwork } from '../../vocabulary/host.js';
import type { Draws } from './draws.js';
import { KeepAlive } from './keep-alive.js';
import { KeptMessages } from './kept-messages.js';
import { type Carried, SimLinks } from './links.js';
import { Precedence } from './precedence.js';
import { RepliesToLose } from './replies-to-lose.js';
import { RequestMoments } from './request-moments.js';
import type { Timeline } from './timeline.js';
import type { Plug, WireAccept, WireConnection, WireEnd, WireWay } from './wire.js';
import { ANY_ADDRESS, type Gate, type HeldMessage, type NetworkPlace } from './wire.js';

/** What was lost at a cut is sent again within this time of its end. */
const RETRANSMITTED_WITHIN_NS = 400e6;

export class SimNetwork implements OwnNetwork {
  /** Messages so far. */
  messages = 0;
  /** Is asked about every message from now on. */
  gate: Gate | undefined;
  readonly precedence: Precedence;
  readonly moments: RequestMoments;
  private readonly listeners = new Map<string, { host: string; accept: WireAccept }>();
  private readonly cuts = new Set<string>();
  private readonly links: SimLinks;
  private readonly keepAlive: KeepAlive;
  private readonly replies = new RepliesToLose();
  private readonly open = new Set<WireConnection>();
  private readonly connected = new Map<string, number>();
  private readonly holding = new Set<WireWay>();
  private dialed = 0;
  private readonly kept = new KeptMessages();

  /** `trace`: is told every message, when it is sent. `inTurn`: see `Precedence`. */
  constructor(
    private readonly timeline: Timeline,
    private readonly draws: (what: string) => Draws,
    private readonly trace: (from: string, to: string, bytes: Buffer) => void,
    inTurn: (hear: () => void) => void,
  ) {
    this.precedence = new Precedence(timeline, this.open, inTurn);
    this.moments = new RequestMoments(timeline, this.open, inTurn);
    this.links = new SimLinks(timeline);
    this.keepAlive = new KeepAlive(timeline, this.open, (connection) => this.probe(connection));
  }

  /** From now on every message is kept, with what becomes of it; the list goes on growing. */
  keepMessages(): readonly Message[] {
    return this.kept.begin();
  }

  listen(at: NetworkPlace, accept: WireAccept): () => void {
    const key = `${at.address === ANY_ADDRESS ? at.host : at.address}:${at.port}`;
    const listener = { host: at.host, accept };
    this.listeners.set(key, listener);
    return () => {
      if (this.listeners.get(key) === listener) this.listeners.delete(key);
    };
  }

  dial(from: NetworkPlace, to: { address: string; port: number }, end: WireEnd): Plug {
    const asked = `${to.address}:${to.port}`;
    // A port that nobody listens at is still a port of somebody's; of an address that nobody has there is no answer.
    const host = this.hosts.get(to.address);
    if (host === undefined) return { send() {}, close() {} };
    const place: NetworkPlace = { ...to, host };
    const nth = (this.connected.get(`${from.host}>${asked}`) ?? 0) + 1;
    this.connected.set(`${from.host}>${asked}`, nth);
    const reset = () => {
      for (const one of [there, back]) {
        const { end: reached } = one;
        one.closed = true;
        one.end = undefined;
        // Each end hears of it in a turn of its own.
        this.timeline.at(this.timeline.nowNs, () => reached?.finished('reset'));
      }
      this.open.delete(connection);
    };
    const number = this.dialed++;
    const way = (one: string, other: string, isBack: boolean): WireWay => ({
      get connection() {
        return connection;
      },
      isBack,
      draw: this.draws(`${one}>${other} of ${from.host}>${asked} ${nth}`),
      fates: this.draws(`fates of ${one}>${other} of ${from.host}>${asked} ${nth}`),
      messages: 0,
      lastNs: 0,
      unacknowledged: 0,
      held: [],
      again: undefined,
      end: undefined,
      closed: false,
    });
    const [there, back] = [way(from.host, host, false), way(host, from.host, true)];
    const connection: WireConnection = {
      number,
      dialer: from,
      listener: place,
      reset,
      ways: { there, back },
      underWay: 0,
      heardNs: this.timeline.nowNs,
    };
    back.end = end;
    this.open.add(connection);
    this.carry(there, () => {
      place.host = this.hosts.get(to.address)!;
      const listener = this.listeners.get(asked) ?? this.listeners.get(`${place.host}:${to.port}`);
      if (!listener) {
        this.open.delete(connection);
        this.carry(back, () => end.refused());
        return;
      }
      there.end = listener.accept(from, this.plug(back, there));
      this.carry(back, () => {
        if (!there.closed) end.opened();
      });
    });
    return this.plug(there, back);
  }

  /** Hosts by their addresses. */
  readonly hosts = new Map<string, string>();

  holderOf(address: string): string | undefined {
    return this.hosts.get(address);
  }

  /** What the host before sends from it does not leave that host; what is sent to it on an old connection is reset. */
  moveAddress(address: string, host: string): void {
    this.hosts.set(address, host);
    this.releasePassing();
    this.keepAlive.moved(address);
  }

  /** Those of a host that neither end has closed, as seen from there, with how much of what it sent has not come. */
  connectionsOf(host: string): { own: NetworkPlace; peer: NetworkPlace; unacknowledged: number }[] {
    return [...this.open].flatMap(({ dialer, listener, ways: { there, back } }) => [
      ...(dialer.host === host ? [{ own: dialer, peer: listener, unacknowledged: there.unacknowledged }] : []),
      ...(listener.host === host ? [{ own: listener, peer: dialer, unacknowledged: back.unacknowledged }] : []),
    ]);
  }

  reset(one: string, other: string, ownPort: number, otherPort: number): void {
    const [here, there] = [`${one}:${ownPort}`, `${other}:${otherPort}`];
    for (const { dialer, listener, reset } of [...this.open]) {
      const ends = [dialer, listener].map(({ host, port }) => `${host}:${port}`);
      if (ends.includes(here) && ends.includes(there)) reset();
    }
  }

  cut(from: string, to: string): void {
    this.cuts.add(`${from}>${to}`);
  }

  heal(from: string, to: string): void {
    this.cuts.delete(`${from}>${to}`);
    this.releasePassing();
  }

  /** `*` is every host. */
  isCut(from: string, to: string): boolean {
    if (this.cuts.size === 0) return false;
    return [`${from}>${to}`, `${from}>*`, `*>${to}`].some((cut) => this.cuts.has(cut));
  }

  shape(from: string, to: string, by: LinkShape | undefined): void {
    this.links.shape(`${from}>${to}`, by);
  }

  shapeOf(from: string, to: string): LinkShape | undefined {
    return this.links.shapeOf(`${from}>${to}`);
  }

  countsOf(from: string, to: string): LinkCounts {
    return this.links.countsOf(`${from}>${to}`);
  }

  loseReplies(from: string, to: string, port: number, count: number, which: 'any' | 'numbers'): void {
    this.replies.lose(`${from}>${to}`, port, count, which);
  }

  lostReplies(from: string, to: string): { left: number; ports: readonly number[] } {
    return this.replies.of(`${from}>${to}`);
  }

  private plug(out: WireWay, back: WireWay): Plug {
    const arrive = (message: Message | undefined, bytes: Buffer | undefined, tell: (end: WireEnd) => void) => {
      out.unacknowledged += bytes?.length ?? 0;
      const deliver = () => {
        out.unacknowledged -= bytes?.length ?? 0;
        out.connection.heardNs = this.timeline.nowNs;
        if (!out.isBack && this.hasMoved(out)) this.resetByStranger(out, back);
        else if (out.end) {
          if (message) message.arrivedNs = this.timeline.nowNs;
          tell(out.end);
        }
      };
      if (!this.isGated(out, bytes, deliver)) this.carry(out, deliver, bytes, message);
    };
    return {
      keepAlive: (everyMs) => this.keepAlive.ask(out.connection, everyMs),
      send: (bytes) => {
        if (out.closed) return;
        const { from, to } = this.routeOf(out);
        this.trace(from, to, bytes);
        const message = this.keep(out, bytes);
        const isLost = out.isBack && this.replies.takes(`${from}>${to}`, out.connection, bytes);
        if (!isLost) return arrive(message, bytes, (end) => end.received(bytes));
        if (message) message.isLost = true;
        out.connection.reset();
      },
      close: (how = 'ended') => {
        if (out.closed) return;
        out.closed = true;
        back.end = undefined;
        this.open.delete(out.connection);
        arrive(this.keep(out), undefined, (end) => end.finished(how));
      },
    };
  }

  private isGated(out: WireWay, bytes: Buffer | undefined, deliver: () => void): boolean {
    if (!this.gate) return false;
    const { number: connection, reset } = out.connection;
    return this.gate.takes({
      connection,
      ...this.routeOf(out),
      isBack: out.isBack,
      ...(bytes && { bytes }),
      come: () => void this.timeline.at(this.timeline.nowNs, deliver),
      lose: reset,
    });
  }

  /** `bytes`: absent where the sender closes its end. */
  private keep(out: WireWay, bytes?: Buffer): Message | undefined {
    const way = { ...this.routeOf(out), isBack: out.isBack };
    return this.kept.add(out.connection, way, this.timeline.nowNs, bytes);
  }

  /** By the hosts that have its addresses now. */
  private routeOf({ connection: { dialer, listener }, isBack }: WireWay): { from: string; to: string } {
    const holder = this.hosts.get(listener.address)!;
    return isBack ? { from: listener.host, to: dialer.host } : { from: dialer.host, to: holder };
  }

  /** The listener's address is no longer where the connection was accepted. */
  private hasMoved({ connection: { listener } }: WireWay): boolean {
    return this.hosts.get(listener.address) !== listener.host;
  }

  /** Who has the address now knows nothing of the connection and says so; who accepted it hears nothing any more. */
  private resetByStranger(out: WireWay, back: WireWay): void {
    const { end } = back;
    if (!end) return;
    out.closed = true;
    out.end = undefined;
    back.closed = true;
    back.held = [];
    this.open.delete(out.connection);
    out.connection.listener.host = this.hosts.get(out.connection.listener.address)!;
    this.carry(back, () => back.end?.finished('reset'));
  }

  private probe({ ways: { there, back } }: WireConnection): boolean {
    const comes = !this.hasMoved(there) || this.passes(there);
    if (comes && this.hasMoved(there)) this.resetByStranger(there, back);
    return comes;
  }

  /** `bytes`: absent where it is none of what programs say. */
  private carry(way: WireWay, deliver: () => void, bytes?: Buffer, message?: Message): void {
    const { connection, isBack, fates } = way;
    this.messages++;
    connection.underWay++;
    const { precedence, moments } = this;
    if (isBack && bytes) moments.answers(way, bytes);
    const number = way.messages++;
    const drawn = way.draw(number);
    const { from, to } = this.routeOf(way);
    const carried: Carried = { link: `${from}>${to}`, number, bytes: bytes?.length ?? 0, fates };
    const request = bytes && !isBack ? { goesOn: precedence.goesOn(from) } : undefined;
    const hears = request && { goesOn: request.goesOn || moments.goesOn(from) };
    const come = () => this.comes(way, { carried, deliver }, message);
    this.links.leave(carried, () => {
      way.lastNs = Math.max(way.lastNs, this.timeline.nowNs + this.links.onItsWayNs(carried, drawn));
      this.timeline.at(way.lastNs, () => {
        connection.underWay--;
        precedence.arrives(connection, isBack, request, () => moments.arrives(way, number, hears, come));
      });
    });
  }

  private comes(way: WireWay, held: HeldMessage, message: Message | undefined): void {
    const isNext = way.held.length === 0 && this.passes(way);
    const againNs = isNext ? this.links.againAfterNs(held.carried, 0) : undefined;
    if (isNext && againNs === undefined) return void held.deliver();
    way.held.push(held);
    this.holding.add(way);
    if (againNs !== undefined) {
      if (message) message.resentNs = this.timeline.nowNs;
      this.sendAgain(way, againNs, 1);
    } else if (message && !this.passes(way)) message.heldNs = this.timeline.nowNs;
  }

  private sendAgain(way: WireWay, afterNs: number, sending: number): void {
    way.again = this.timeline.at(this.timeline.nowNs + afterNs, () => {
      way.again = undefined;
      this.arriveAgain(way, sending);
    });
  }

  /** What was behind it, had come before; had one of that been lost as well, it would be sent again at once. */
  private arriveAgain(way: WireWay, sending: number): void {
    const [first] = way.held;
    // Cut meanwhile, or again: the end of that cut will be this one's.
    if (way.again || !this.passes(way)) return;
    const againNs = first && this.links.againAfterNs(first.carried, sending);
    if (againNs !== undefined) return void this.sendAgain(way, againNs, sending + 1);
    this.holding.delete(way);
    for (const one of way.held.splice(0)) one.deliver();
  }

  private passes(way: WireWay): boolean {
    const { from, to } = this.routeOf(way);
    // A kernel sends nothing from an address that it does not have.
    return !this.isCut(from, to) && !(way.isBack && this.hasMoved(way));
  }

  private releasePassing(): void {
    for (const way of this.holding) if (!way.again && this.passes(way)) this.release(way);
  }

  /** From then on a cut of others that ends does not keep it longer. */
  private release(way: WireWay): void {
    const afterNs = way.draw(-1 - way.messages) * RETRANSMITTED_WITHIN_NS;
    way.lastNs = Math.max(way.lastNs, this.timeline.nowNs + afterNs);
    this.sendAgain(way, afterNs, 1);
  }
}
