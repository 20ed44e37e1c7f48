/**
 * A sequence as a drawing: time downwards, a line for each host, an arrow for each message. Not to scale: what happens stands
 * below each other, and where nothing happens for long that is said.
 */
import { duration, exactMoment } from '../../harness/record/facts/words.js';
import { box, fitted, hover, label, line } from '../drawing/pieces.js';
import { type Markup, markup } from '../markup.js';
import type { Entry } from './entry.js';
import { linesOfTime, type Row } from './rows.js';
import type { Sequence } from './sequence.js';

const WIDTH = 1100;
const TIMES = 92;
const HEAD = 30;
const ROW = 23;
const PAUSE = 17;
const PAUSE_NS = 5e6;
const HOLD_WIDTH = 9;
const FONT = 11;

type MessageEntry = Extract<Entry, { kind: 'message' }>;

export function sequenceDrawing(sequence: Sequence, name: string): Markup {
  const page = new Page(sequence);
  const height = page.bottom + 12;
  return markup`<svg class="sheet sequence" role="img" aria-label="${name}" viewBox="0 0 ${WIDTH} ${height}">${page.drawn()}</svg>`;
}

class Page {
  readonly bottom: number;
  private readonly rows: readonly Row[];
  private readonly yOf: number[] = [];
  private readonly pauses: { y: number; ns: number }[] = [];

  constructor(private readonly sequence: Sequence) {
    this.rows = linesOfTime(sequence);
    let y = HEAD;
    for (const [n, row] of this.rows.entries()) {
      const passed = n === 0 ? 0 : row.atNs - this.rows[n - 1]!.atNs;
      if (passed >= PAUSE_NS) {
        this.pauses.push({ y: y + PAUSE, ns: passed });
        y += PAUSE;
      }
      y += ROW;
      this.yOf.push(y);
    }
    this.bottom = y + 8;
  }

  drawn(): Markup[] {
    const { hosts, wrong, struck, holds } = this.sequence;
    return [
      this.wrongBand(wrong),
      ...hosts.map((host) => this.lane(host)),
      ...struck.map(({ host, fromNs, untilNs, text }) => this.bar('fault-bar', host, -1, fromNs, untilNs, text)),
      ...holds.map(({ host, hold }) => {
        const isOurs = hold.fromNs <= wrong.untilNs && hold.untilNs >= wrong.fromNs;
        const leaseEnd = Math.min(hold.leaseEndNs, hold.untilNs);
        const text = `${hold.client} holds ${hold.key}, ${exactMoment(hold.fromNs)} – ${exactMoment(hold.untilNs)}`;
        return markup`<g class="hold-group k0 ${isOurs ? '' : 'dim'}">${this.bar('hold', host, 0, hold.fromNs, leaseEnd, text)}${
          leaseEnd < hold.untilNs
            ? this.bar('stale', host, 0, Math.max(leaseEnd, hold.fromNs), hold.untilNs, `${text}: past its lease`)
            : undefined
        }</g>`;
      }),
      ...this.pauses.map(({ y, ns }) => label('axis', 4, y + 4, `… ${duration(ns)}`)),
      ...this.rows.map((row, n) => this.row(row, n)),
    ];
  }

  private x(host: string): number {
    const { hosts } = this.sequence;
    const width = (WIDTH - TIMES) / hosts.length;
    return TIMES + width * (hosts.indexOf(host) + 0.5);
  }

  /** Of any moment: between two lines where it lies between their times. */
  private y(ns: number): number {
    const after = this.rows.findIndex(({ atNs }) => atNs >= ns);
    if (after < 0) return this.bottom;
    if (after === 0) return this.rows[0]!.atNs === ns ? this.yOf[0]! : HEAD;
    const [from, until] = [this.rows[after - 1]!.atNs, this.rows[after]!.atNs];
    const part = until === from ? 1 : (ns - from) / (until - from);
    return this.yOf[after - 1]! + part * (this.yOf[after]! - this.yOf[after - 1]!);
  }

  private wrongBand({ fromNs, untilNs, text }: Sequence['wrong']): Markup {
    const y = this.y(fromNs);
    const room = this.x(this.sequence.hosts[0]!) - TIMES - 8;
    return markup`${label('mark-name', TIMES - 14, y + 13, fitted(text, room, FONT))}${box('mark-fill exclusion', { x: 0, y, width: WIDTH, height: Math.max(2, this.y(untilNs) - y) }, hover(text))}`;
  }

  private lane(host: string): Markup {
    const x = this.x(host);
    return markup`${line('lifeline', x, HEAD - 6, x, this.bottom)}<text class="lane-name" text-anchor="middle" x="${x}" y="${HEAD - 12}">${host}</text>`;
  }

  private bar(className: string, host: string, lane: number, fromNs: number, untilNs: number, text: string): Markup {
    const y = this.y(fromNs);
    const at = {
      x: this.x(host) - HOLD_WIDTH / 2 + lane * (HOLD_WIDTH + 1),
      y,
      width: HOLD_WIDTH,
      height: Math.max(2, this.y(untilNs) - y),
    };
    if (className !== 'stale') return box(className, at, hover(text));
    return markup`${box('hold-edge', at)}<rect fill="url(#stale-k0)" x="${at.x}" y="${at.y}" width="${at.width}" height="${at.height}">${hover(text)}</rect>`;
  }

  private row(row: Row, n: number): Markup {
    const y = this.yOf[n]!;
    const time = label('axis', 4, y + 3, (row.atNs / 1e6).toFixed(3));
    const { entry } = row;
    if (entry.kind === 'note') return markup`${time}${this.note(entry, y)}`;
    if (row.shows === 'comes') return markup`${time}`;
    const until = this.rows.findIndex((other) => other.entry === entry && other.shows === 'comes');
    return markup`${time}${this.arrow(entry, y, row.shows === 'whole' || until < 0 ? y : this.yOf[until]!)}`;
  }

  private note({ host, text, tone }: Extract<Entry, { kind: 'note' }>, y: number): Markup {
    const x = this.x(host);
    const isRight = x > WIDTH * 0.72;
    const room = (isRight ? x - TIMES : WIDTH - x) - 18;
    const anchor = isRight ? 'end' : 'start';
    return markup`<g class="note-at ${tone}"><circle cx="${x}" cy="${y}" r="3.4"/><text text-anchor="${anchor}" x="${isRight ? x - 11 : x + 11}" y="${y + 4}">${fitted(text, room, FONT)}${hover(text)}</text></g>`;
  }

  private arrow(entry: MessageEntry, fromY: number, untilY: number): Markup {
    const { from, to, text, way, atNs } = entry;
    const side = this.x(to) > this.x(from) ? 1 : -1;
    const [x1, far] = [this.x(from) + side * 6, this.x(to) - side * 6];
    const isLost = way.arrivedNs === undefined;
    const x2 = isLost ? x1 + (far - x1) * 0.7 : far;
    const state = isLost ? 'lost' : way.trouble === undefined ? '' : 'late';
    const head = isLost
      ? markup`<path d="M${x2 - 4} ${untilY - 4}l8 8m0 -8l-8 8"/>`
      : markup`<path class="head" d="M${x2} ${untilY}l${-side * 8} -3.5v7z"/>`;
    const words = way.trouble === undefined ? text : `${text} — ${way.trouble}`;
    const came = isLost ? undefined : `came ${exactMoment(way.arrivedNs!)}`;
    const isFlat = untilY === fromY;
    const [labelX, anchor] = isFlat ? [(x1 + x2) / 2, 'middle'] : [x1 + side * 4, side > 0 ? 'start' : 'end'];
    const room = isFlat ? 2 * Math.min(labelX - TIMES, WIDTH - labelX) : side > 0 ? WIDTH - labelX : labelX - TIMES;
    return markup`<g class="arrow ${state}">${hover(`${from} to ${to}: ${words}`, `sent ${exactMoment(atNs)}`, came)}${line('shaft', x1, fromY, x2, untilY)}${head}<text text-anchor="${anchor}" x="${labelX}" y="${fromY - 4}">${fitted(words, room, FONT)}</text></g>`;
  }
}
