/**
 * What links between simulated hosts do to messages beyond their usual delay, as those notice it who talk by TCP: nothing is lost for
 * good, and nothing overtakes what was sent before it on its connection.
 *
 * A message is as many packets as its bytes fill. One that is lost is sent again after a time-out, which doubles each time; what is sent
 * behind it on its connection waits. One that is overtaken comes late. One that comes twice costs nothing but its share of a slow link.
 * Excludes acknowledgements, which take no time and are not lost, and what TCP does sooner than at its time-out.
 */
import type { LinkCounts, LinkShape } from '../../vocabulary/host.js';
import type { Draws } from './draws.js';
import type { Appointment, Timeline } from './timeline.js';

/** Of a packet's bytes, those of the message, and those before them. */
const PAYLOAD_BYTES = 1_448;
const HEADER_BYTES = 52;
/** How long Linux waits for an acknowledgement at the least, and for that of a connection's first packet. */
const AGAIN_AFTER_NS = 200e6;
const FIRST_AGAIN_AFTER_NS = 1e9;
const AGAIN_AFTER_AT_MOST_NS = 120e9;

const LEAST_NS = 50_000;
const MOST_NS = 250_000;

/** Of each message so many numbers are drawn: whether its nth sending is lost, and these two. */
const FATES = 32;
const TWICE = 30;
const OVERTAKEN = 31;

/** A message on its link, or another event of its connection. */
export interface Carried {
  /** The link's name. */
  link: string;
  /** Of those on its way of the connection: from 0 on. */
  number: number;
  bytes: number;
  /** What becomes of it, apart from how long it is on its way. */
  fates: Draws;
}

interface Waiting {
  bytes: number;
  go(): void;
}

/** A link that carries little: what waits, the first of it on its way out. */
interface SlowLink {
  readonly queue: Waiting[];
  due: Appointment | undefined;
}

export class SimLinks {
  private readonly shapes = new Map<string, LinkShape>();
  private readonly counts = new Map<string, LinkCounts>();
  private readonly slow = new Map<string, SlowLink>();

  constructor(private readonly timeline: Timeline) {}

  /** As `OwnNetwork.shape`. */
  shape(link: string, by: LinkShape | undefined): void {
    if (by) this.shapes.set(link, by);
    else this.shapes.delete(link);
    if (!by?.rateKbps) this.hurry(link);
  }

  shapeOf(link: string): LinkShape | undefined {
    return this.shapes.get(link);
  }

  countsOf(link: string): LinkCounts {
    return this.counts.get(link) ?? { messages: 0, lost: 0, twice: 0, overtaken: 0 };
  }

  /** Has it leave: at once, or when a slow link has carried what was sent over it before, and this. */
  leave(one: Carried, go: () => void): void {
    const { link } = one;
    const shape = this.shapes.get(link);
    if (!shape) {
      go();
      return;
    }
    const isTwice = one.fates(one.number * FATES + TWICE) < oneOf(packetsOf(one), shape.duplicatePpm);
    this.count(link, { messages: 1, twice: Number(isTwice) });
    if (!shape.rateKbps) {
      go();
      return;
    }
    const slow = this.slow.get(link) ?? { queue: [], due: undefined };
    this.slow.set(link, slow);
    slow.queue.push({ bytes: (one.bytes + packetsOf(one) * HEADER_BYTES) * (isTwice ? 2 : 1), go });
    if (!slow.due) this.next(link, slow);
  }

  /** How long it is on its way once it has left, nanoseconds; `drawn` from 0 up to 1. */
  onItsWayNs(one: Carried, drawn: number): number {
    const shape = this.shapes.get(one.link);
    const usualNs = LEAST_NS + drawn * (MOST_NS - LEAST_NS);
    if (!shape) return usualNs;
    const isOvertaken = one.fates(one.number * FATES + OVERTAKEN) < oneOf(packetsOf(one), shape.reorderPpm);
    if (isOvertaken) this.count(one.link, { overtaken: 1 });
    const laterMs = Math.max(0, shape.delayMs + (2 * drawn - 1) * shape.jitterMs) + (isOvertaken ? shape.gapMs : 0);
    return usualNs + laterMs * 1e6;
  }

  /** After how many nanoseconds it is sent again, because its nth sending is lost (from 0 on); undefined: it is not. */
  againAfterNs(one: Carried, sending: number): number | undefined {
    const lossPpm = this.shapes.get(one.link)?.lossPpm ?? 0;
    if (lossPpm === 0) return undefined;
    if (one.fates(one.number * FATES + Math.min(sending, TWICE - 1)) >= oneOf(packetsOf(one), lossPpm))
      return undefined;
    this.count(one.link, { lost: 1 });
    const firstNs = one.number === 0 ? FIRST_AGAIN_AFTER_NS : AGAIN_AFTER_NS;
    return Math.min(firstNs * 2 ** sending, AGAIN_AFTER_AT_MOST_NS);
  }

  private next(link: string, slow: SlowLink): void {
    const [first] = slow.queue;
    const rateKbps = this.shapes.get(link)?.rateKbps ?? 0;
    slow.due = undefined;
    if (!first || rateKbps === 0) return;
    slow.due = this.timeline.at(this.timeline.nowNs + (first.bytes * 1e6) / rateKbps, () => {
      slow.queue.shift();
      this.next(link, slow);
      first.go();
    });
  }

  private hurry(link: string): void {
    const slow = this.slow.get(link);
    if (!slow) return;
    this.slow.delete(link);
    slow.due?.cancel();
    for (const { go } of slow.queue.splice(0)) go();
  }

  private count(link: string, more: Partial<LinkCounts>): void {
    const counts = this.countsOf(link);
    for (const [what, by] of Object.entries(more)) counts[what as keyof LinkCounts] += by;
    this.counts.set(link, counts);
  }
}

function packetsOf({ bytes }: Carried): number {
  return Math.max(1, Math.ceil(bytes / PAYLOAD_BYTES));
}

/** How likely it comes to at least one of so many packets what comes to each with so many parts per million. */
function oneOf(packets: number, ppm: number): number {
  return 1 - (1 - ppm / 1e6) ** packets;
}
