/** Violations: a red row at the top, and red over the lanes of the clients that held at once. Never left out. */
import { type Markup, markup } from '../markup.js';
import type { Mark } from '../story/story.js';
import { className, count, duration, exactMoment, holdName } from '../words.js';
import { type Canvas, LEFT, RIGHT } from './canvas.js';
import { mergeRows, rowOf } from './merge.js';
import { box, hover, label, packed, textWidth } from './pieces.js';

/** A mark may be as short as a microsecond: it is never drawn narrower than this. */
const MARK_PX = 3;
const FONT_PX = 11;
const ROW_PX = 18;
const MOST_ROWS = 5;
/** Marks drawn each by itself; thousands share their red where they touch. */
export const MOST_MARKS = 500;

/** One mark, or several that share their red. */
interface MarkBar {
  fromX: number;
  untilX: number;
  items: readonly Mark[];
}

export interface PlacedMark {
  bar: MarkBar;
  /** Where its row begins; its name is written in the middle of it. */
  y: number;
  text: string;
  middleX: number;
}

/** Finds every mark its place in rows that do not overlap, and makes room for them. */
export function placeMarks(canvas: Canvas): PlacedMark[] {
  const bars = markBars(canvas);
  if (bars.length === 0) return [];
  canvas.main.push(
    label('lane-name bad', 4, canvas.y + 13, canvas.options.marks.length > 1 ? 'violations' : 'violation'),
  );
  const named = bars.map((bar) => {
    const text = markName(canvas, bar);
    const half = textWidth(text, FONT_PX) / 2;
    return { bar, text, half, middleX: Math.min(Math.max((bar.fromX + bar.untilX) / 2, LEFT + half), RIGHT - half) };
  });
  const rows = packed(
    named.map(({ bar, half, middleX }) => ({
      from: Math.min(bar.fromX, middleX - half),
      until: Math.max(bar.untilX, middleX + half) + 3,
    })),
    MOST_ROWS,
  );
  const top = canvas.y;
  canvas.y += (Math.max(...rows) + 1) * ROW_PX + 3;
  let nameless = 0;
  const endsX: number[] = [];
  const placed = named.map(({ bar, text, half, middleX }, at) => {
    const row = rows[at] ?? 0;
    // Only the last row can be crowded: names that would run into each other there are left to the hover text.
    const fits = middleX - half >= (endsX[row] ?? 0);
    if (fits) endsX[row] = middleX + half;
    else nameless++;
    return { bar, y: top + row * ROW_PX, text: fits ? text : '', middleX };
  });
  if (nameless > 0) canvas.notes.push(`${count(nameless)} red marks carry no number for want of room`);
  return placed;
}

function markBars(canvas: Canvas): MarkBar[] {
  const spans = canvas.options.marks
    .filter(({ violation }) => canvas.sees(violation.fromNs, endOf(violation.untilNs)))
    .sort((a, b) => a.violation.fromNs - b.violation.fromNs)
    .map((mark): MarkBar => {
      const { fromNs, untilNs } = mark.violation;
      return { fromX: canvas.x(fromNs), untilX: canvas.x(untilNs), items: [mark] };
    });
  if (spans.length <= MOST_MARKS) {
    return spans.map(({ fromX, untilX, items }) => ({ fromX, untilX: Math.max(fromX + MARK_PX, untilX), items }));
  }
  const bars = mergeRows([rowOf(spans)], MOST_MARKS).rows.flat();
  canvas.notes.push(`${count(spans.length)} violations share ${count(bars.length)} red marks`);
  return bars.map(({ fromX, untilX, first, count }) => ({
    fromX,
    untilX: Math.max(fromX + MARK_PX, untilX),
    items: spans.slice(first, first + count).flatMap(({ items }) => items),
  }));
}

function endOf(ns: number): number {
  return Number.isFinite(ns) ? ns : Number.POSITIVE_INFINITY;
}

function markName(canvas: Canvas, { items }: MarkBar): string {
  const [{ violation, number }] = items as [Mark];
  if (items.length > 1) return `${items.length}×`;
  return canvas.close ? `${className(violation)}: ${duration(violation.untilNs - violation.fromNs)}` : String(number);
}

/** Draws what `placeMarks` placed, once the lanes of the clients have theirs. */
export function drawMarks(canvas: Canvas, placed: readonly PlacedMark[]): void {
  for (const { bar, y, text, middleX } of placed) {
    const [first] = bar.items as [Mark];
    const width = bar.untilX - bar.fromX;
    const title = markHover(bar.items);
    const kind = first.violation.class;
    const lanes = markedLanes(canvas, bar);
    const bottom = Math.max(y + 17, ...lanes.map((lane) => lane.y + lane.height));
    for (const lane of lanes) {
      canvas.behind.push(box(`mark-fill ${kind}`, { x: bar.fromX, y: lane.y - 2, width, height: lane.height + 4 }));
    }
    const drawn = markup`<g class="mark" data-violation="${first.number}">${title}${[
      box('mark-frame', { x: bar.fromX, y: y + 16, width, height: bottom - y - 16 }),
      box(`mark-bar ${kind}`, { x: bar.fromX, y: y + 12.5, width, height: 4 }),
      text === ''
        ? undefined
        : markup`<text class="mark-name" text-anchor="middle" x="${middleX}" y="${y + 10}">${text}</text>`,
      lanes.map((lane) => box(`mark-span ${kind}`, { x: bar.fromX, y: lane.y - 2, width, height: lane.height + 4 })),
    ]}</g>`;
    canvas.front.push(linked(canvas, bar.items, drawn));
  }
}

/** Marks lead to their violation, and are led to from it by their ids. */
function linked(canvas: Canvas, marks: readonly Mark[], drawn: Markup): Markup {
  const { anchor } = canvas.options;
  if (anchor === undefined) return drawn;
  const [first, ...others] = marks as [Mark, ...Mark[]];
  const ids = others.map(({ number }) => markup`<g id="${anchor}${number}"></g>`);
  return markup`<a href="${first.href}" id="${anchor}${first.number}">${ids}${drawn}</a>`;
}

function markHover(marks: readonly Mark[]): Markup {
  const [{ number, violation }] = marks as [Mark];
  if (marks.length > 1) return hover(`${marks.length} violations, the first is no. ${number}`);
  return hover(
    `violation ${number}: ${className(violation)} on ${violation.key}`,
    `${exactMoment(violation.fromNs)} – ${exactMoment(violation.untilNs)} (${duration(violation.untilNs - violation.fromNs)})`,
    ...violation.holds.map((hold) => `${holdName(hold)}: history lines ${hold.evidence.slice(0, 20).join(', ')}`),
  );
}

function markedLanes(canvas: Canvas, bar: MarkBar): { y: number; height: number }[] {
  const holds = bar.items.flatMap((one) => one.violation.holds);
  const slots = new Set(holds.map((hold) => canvas.options.story.slotOf.get(hold.client)?.name));
  return [...slots].flatMap((slot) => canvas.lanes.get(`slot ${slot}`) ?? []);
}
