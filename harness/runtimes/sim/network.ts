/**
 * The network of a simulated run: connections between hosts, and every message on them as something that is to happen.
 *
 * As TCP has it: in order on each way of a connection, nothing lost. What meets a cut waits for its end, and then a little
 * for the next retransmission; a connection that ends without a word is not noticed on the other side of a cut.
 */
import type { Message } from '../../record/messages.js';
import type { OwnNetwork } from '../../vocabulary/host.js';
import type { Draws } from './draws.js';
import { type LinkDelay, onItsWayNs } from './link-delay.js';
import { Precedence } from './precedence.js';
import type { Timeline } from './timeline.js';
import type { Gate, NetworkPlace, Plug, WireEnd } from './wire.js';

type Accept = (from: NetworkPlace, plug: Plug) => WireEnd;

/** What was lost at a cut is sent again within this time of its end. */
const RETRANSMITTED_WITHIN_NS = 400e6;

/** Answers that a link is to lose, and those that it has lost. */
interface Losing {
  fromPort: number;
  left: number;
  which: 'any' | 'numbers';
  ports: number[];
}

const COLON = ':'.charCodeAt(0);

interface Direction {
  readonly connection: Connection;
  /** From the listener to who dialed. */
  readonly isBack: boolean;
  readonly draw: Draws;
  messages: number;
  lastNs: number;
  /** What meets a cut, in order. */
  held: (() => void)[];
  end: WireEnd | undefined;
  closed: boolean;
}

interface Connection {
  /** From 0 on, in the order in which they were dialed. */
  readonly number: number;
  readonly dialer: NetworkPlace;
  /** Its host: who had the address when the connection was accepted. */
  readonly listener: NetworkPlace;
  readonly reset: () => void;
  /** Messages that are on their way, both ways together; what meets a cut is not. */
  underWay: number;
}

/** In place of an address: all that the host has, whenever it has them. */
export const ANY_ADDRESS = '0.0.0.0';

export class SimNetwork implements OwnNetwork {
  /** Messages so far. */
  messages = 0;
  /** Is asked about every message from now on. */
  gate: Gate | undefined;
  readonly precedence: Precedence;
  private readonly listeners = new Map<string, { host: string; accept: Accept }>();
  private readonly cuts = new Set<string>();
  private readonly delays = new Map<string, LinkDelay>();
  private readonly losing = new Map<string, Losing>();
  private readonly open = new Set<Connection>();
  private readonly connected = new Map<string, number>();
  private readonly holding = new Set<Direction>();
  private dialed = 0;
  private kept: Message[] | undefined;

  /** `trace`: is told every message, when it is sent. `inTurn`: see `Precedence`. */
  constructor(
    private readonly timeline: Timeline,
    private readonly draws: (what: string) => Draws,
    private readonly trace: (from: string, to: string, bytes: Buffer) => void,
    inTurn: (hear: () => void) => void,
  ) {
    this.precedence = new Precedence(timeline, this.open, inTurn);
  }

  /** From now on every message is kept, with what becomes of it; the list goes on growing. */
  keepMessages(): readonly Message[] {
    this.kept ??= [];
    return this.kept;
  }

  listen(at: NetworkPlace, accept: Accept): () => void {
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
    const connection: Connection = { number: this.dialed++, dialer: from, listener: place, reset, underWay: 0 };
    const way = (one: string, other: string, isBack: boolean): Direction => ({
      connection,
      isBack,
      draw: this.draws(`${one}>${other} of ${from.host}>${asked} ${nth}`),
      messages: 0,
      lastNs: 0,
      held: [],
      end: undefined,
      closed: false,
    });
    const [there, back] = [way(from.host, host, false), way(host, from.host, true)];
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
  }

  /** Those of a host that neither end has closed, as seen from there. */
  connectionsOf(host: string): { own: NetworkPlace; peer: NetworkPlace }[] {
    return [...this.open].flatMap(({ dialer, listener }) => [
      ...(dialer.host === host ? [{ own: dialer, peer: listener }] : []),
      ...(listener.host === host ? [{ own: listener, peer: dialer }] : []),
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

  delay(from: string, to: string, by: LinkDelay | undefined): void {
    if (by) this.delays.set(`${from}>${to}`, by);
    else this.delays.delete(`${from}>${to}`);
  }

  isDelayed(from: string, to: string): boolean {
    return this.delays.has(`${from}>${to}`);
  }

  loseReplies(from: string, to: string, port: number, count: number, which: 'any' | 'numbers'): void {
    const { ports } = this.lostReplies(from, to);
    this.losing.set(`${from}>${to}`, { fromPort: port, left: count, which, ports: [...ports] });
  }

  lostReplies(from: string, to: string): { left: number; ports: readonly number[] } {
    return this.losing.get(`${from}>${to}`) ?? { left: 0, ports: [] };
  }

  private isLost(out: Direction, bytes: Buffer): boolean {
    const { from, to } = this.routeOf(out);
    const losing = this.losing.get(`${from}>${to}`);
    const { dialer, listener } = out.connection;
    if (!losing || losing.left === 0 || !out.isBack || listener.port !== losing.fromPort) return false;
    if (losing.which === 'numbers' && bytes[0] !== COLON) return false;
    losing.left--;
    losing.ports.push(dialer.port);
    return true;
  }

  private plug(out: Direction, back: Direction): Plug {
    const arrive = (message: Message | undefined, bytes: Buffer | undefined, tell: (end: WireEnd) => void) => {
      const deliver = () => {
        if (!out.isBack && this.hasMoved(out)) this.resetByStranger(out, back);
        else if (out.end) {
          if (message) message.arrivedNs = this.timeline.nowNs;
          tell(out.end);
        }
      };
      if (!this.isGated(out, bytes, deliver)) this.carry(out, deliver, message, !out.isBack && bytes !== undefined);
    };
    return {
      send: (bytes) => {
        if (out.closed) return;
        const { from, to } = this.routeOf(out);
        this.trace(from, to, bytes);
        const message = this.keep(out, bytes);
        if (!this.isLost(out, bytes)) return arrive(message, bytes, (end) => end.received(bytes));
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

  private isGated(out: Direction, bytes: Buffer | undefined, deliver: () => void): boolean {
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
  private keep(out: Direction, bytes?: Buffer): Message | undefined {
    if (!this.kept) return undefined;
    const { number: connection, listener } = out.connection;
    const message: Message = {
      connection,
      ...this.routeOf(out),
      port: listener.port,
      isBack: out.isBack,
      sentNs: this.timeline.nowNs,
      ...(bytes && { bytes: bytes.toString('latin1') }),
    };
    this.kept.push(message);
    return message;
  }

  /** By the hosts that have its addresses now. */
  private routeOf({ connection: { dialer, listener }, isBack }: Direction): { from: string; to: string } {
    const holder = this.hosts.get(listener.address)!;
    return isBack ? { from: listener.host, to: dialer.host } : { from: dialer.host, to: holder };
  }

  /** The listener's address is no longer where the connection was accepted. */
  private hasMoved({ connection: { listener } }: Direction): boolean {
    return this.hosts.get(listener.address) !== listener.host;
  }

  /** Who has the address now knows nothing of the connection and says so; who accepted it hears nothing any more. */
  private resetByStranger(out: Direction, back: Direction): void {
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

  private carry(way: Direction, deliver: () => void, message?: Message, isRequest = false): void {
    const { connection } = way;
    this.messages++;
    connection.underWay++;
    const drawn = way.draw(way.messages++);
    const { from, to } = this.routeOf(way);
    const takesNs = onItsWayNs(drawn, this.delays.get(`${from}>${to}`));
    way.lastNs = Math.max(way.lastNs, this.timeline.nowNs + takesNs);
    const request = isRequest ? { goesOn: this.precedence.goesOn(from) } : undefined;
    const come = () => {
      if (way.held.length === 0 && this.passes(way)) return deliver();
      if (message) message.heldNs = this.timeline.nowNs;
      way.held.push(deliver);
      this.holding.add(way);
    };
    this.timeline.at(way.lastNs, () => {
      connection.underWay--;
      this.precedence.arrives(connection, way.isBack, request, come);
    });
  }

  private passes(way: Direction): boolean {
    const { from, to } = this.routeOf(way);
    // A kernel sends nothing from an address that it does not have.
    return !this.isCut(from, to) && !(way.isBack && this.hasMoved(way));
  }

  private releasePassing(): void {
    for (const way of this.holding) if (this.passes(way)) this.release(way);
  }

  private release(way: Direction): void {
    const againNs = this.timeline.nowNs + way.draw(-1 - way.messages) * RETRANSMITTED_WITHIN_NS;
    way.lastNs = Math.max(way.lastNs, againNs);
    this.timeline.at(againNs, () => {
      // Cut again meanwhile: the end of that cut will be this one's.
      if (!this.passes(way)) return;
      this.holding.delete(way);
      for (const deliver of way.held.splice(0)) deliver();
    });
  }
}
