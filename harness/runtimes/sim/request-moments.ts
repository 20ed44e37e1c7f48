/**
 * Moments that somebody waits for: right before a client's request comes to its server, and right after the server has carried it out.
 * Until whoever waited has done what it wanted to do there, the request, or the answer, waits where it would be heard next.
 *
 * Excludes what servers say to each other, and who is heard first: what waits here for no time at all changes no order.
 */
import type { HeldBack, OwnMoments, RequestMoment } from '../../vocabulary/host.js';
import { GoingOn } from './going-on.js';
import type { Timeline } from './timeline.js';
import type { WireConnection, WireWay } from './wire.js';

interface Asked extends RequestMoment {
  left: number;
  come(request: HeldBack): void;
  /** Its request has come; the answer is the moment. */
  answeredOn?: WireConnection;
  /** Where something waits for it. */
  holds?: WireWay;
}

/** Of one way of a connection. */
interface Waiting {
  /** For how many that were asked for. */
  holds: number;
  /** From its so many-th message on; what was sent before passes. */
  from: number;
  readonly queue: (() => void)[];
}

export class RequestMoments implements OwnMoments {
  private readonly asked = new Set<Asked>();
  private readonly waiting = new Map<WireWay, Waiting>();
  private readonly going: GoingOn;
  /** By connection, since somebody waits for a moment: what was answered last; and whether something was asked since. */
  private readonly said = new WeakMap<WireConnection, Buffer>();
  private readonly asking = new WeakSet<WireConnection>();

  /** `open`: connections that neither end has closed. `inTurn`: as in `Precedence`. */
  constructor(
    private readonly timeline: Timeline,
    private readonly open: ReadonlySet<WireConnection>,
    private readonly inTurn: (hear: () => void) => void,
  ) {
    this.going = new GoingOn(timeline);
  }

  wait(nth: number, of: RequestMoment, come: (request: HeldBack) => void): () => void {
    const asked: Asked = { ...of, left: nth, come: (request) => this.inTurn(() => come(request)) };
    this.asked.add(asked);
    return () => {
      this.asked.delete(asked);
      if (asked.holds) this.letGo(asked.holds);
      delete asked.holds;
    };
  }

  /** Of answers since somebody waits for a moment. */
  goesOn(host: string): boolean {
    return this.going.goesOn(host);
  }

  /**
   * The so many-th message of its way has come: `come` is called now, or when nobody has it wait any more. `request`: of what a host
   * sends to where it has connected, but for the connection's end, whether it went on with it.
   */
  arrives(way: WireWay, number: number, request: { goesOn: boolean } | undefined, come: () => void): void {
    const { connection, isBack } = way;
    if (request) this.count(way, number, request.goesOn);
    const isAsked = this.asked.size > 0;
    const heard = () => {
      if (isBack && isAsked) this.going.heard(connection.dialer.host);
      come();
    };
    const waiting = this.waiting.get(way);
    if (waiting && (waiting.queue.length > 0 || (waiting.holds > 0 && number >= waiting.from)))
      waiting.queue.push(heard);
    else heard();
  }

  /** The next message of this way is what a server says, in the instant in which it has carried something out. */
  answers(way: WireWay, bytes: Buffer): void {
    const { connection } = way;
    // What a server says without being asked answers nothing.
    if (this.asked.size === 0 || !this.asking.delete(connection)) return;
    const before = this.said.get(connection);
    this.said.set(connection, bytes);
    const isOther = before !== undefined && !before.equals(bytes);
    const isIt = (one: Asked) =>
      one.event === 'change'
        ? isOther && one.counts(requestOn(connection)) && --one.left <= 0
        : one.answeredOn === connection;
    for (const one of this.asked) if (isIt(one)) this.isThere(one, way, way.messages);
  }

  private count(way: WireWay, number: number, goesOn: boolean): void {
    const { connection } = way;
    const request = requestOn(connection);
    if (this.asked.size > 0) this.asking.add(connection);
    for (const one of this.asked) {
      if (one.event === 'change') continue;
      // What nobody will answer any more is none: the next one takes its place.
      if (one.answeredOn && this.open.has(one.answeredOn)) continue;
      if ((one.event === 'going-on' && !goesOn) || !one.counts(request)) continue;
      if (!one.answeredOn && --one.left > 0) continue;
      if (one.side === 'before') this.isThere(one, way, number);
      else one.answeredOn = connection;
    }
  }

  private isThere(asked: Asked, way: WireWay, number: number): void {
    this.asked.delete(asked);
    const waiting = this.waiting.get(way) ?? { holds: 0, from: number, queue: [] };
    this.waiting.set(way, waiting);
    if (waiting.holds === 0) waiting.from = number;
    waiting.holds++;
    asked.holds = way;
    asked.come(requestOn(way.connection));
  }

  private letGo(way: WireWay): void {
    const waiting = this.waiting.get(way)!;
    if (--waiting.holds === 0) this.passOn(way, waiting);
  }

  /** One after the other, each in a happening of its own: what follows from it is in the turn of whoever hears it. */
  private passOn(way: WireWay, waiting: Waiting): void {
    if (waiting.queue.length === 0) {
      this.waiting.delete(way);
      return;
    }
    this.timeline.at(this.timeline.nowNs, () => {
      if (waiting.holds > 0) return;
      const come = waiting.queue.shift();
      this.passOn(way, waiting);
      come?.();
    });
  }
}

function requestOn({ dialer, listener }: WireConnection): HeldBack {
  return { from: dialer.host, to: listener.host };
}
