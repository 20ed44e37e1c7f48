/** The violation: a red bar at the top with its name, and red over the lanes of the clients that held at once. */
import { className } from '../../harness/record/facts/classes.js';
import { duration, exactMoment } from '../../harness/record/facts/words.js';
import { markup } from '../markup.js';
import { holdName } from '../words.js';
import { type Canvas, LEFT, RIGHT } from './canvas.js';
import { box, hover, label, textWidth } from './pieces.js';

/** It may be as short as a microsecond: it is never drawn narrower than this. */
const MARK_PX = 3;
const FONT_PX = 11;
const ROW_PX = 18;

/** Makes room for the bar and its name; gives its y. */
export function placeMark(canvas: Canvas): number {
  canvas.main.push(label('lane-name bad', 4, canvas.y + 13, 'violation'));
  const { y } = canvas;
  canvas.y += ROW_PX + 3;
  return y;
}

/** Draws it at the `y` that was made room for, once the lanes of the clients have theirs. */
export function drawMark(canvas: Canvas, y: number): void {
  const { number, violation } = canvas.options.mark;
  const { fromNs, untilNs, class: kind } = violation;
  const x = canvas.x(fromNs);
  const width = Math.max(MARK_PX, canvas.x(Number.isFinite(untilNs) ? untilNs : Number.POSITIVE_INFINITY) - x);
  const lanes = markedLanes(canvas);
  const bottom = Math.max(y + 17, ...lanes.map((lane) => lane.y + lane.height));
  for (const lane of lanes)
    canvas.behind.push(box(`mark-fill ${kind}`, { x, y: lane.y - 2, width, height: lane.height + 4 }));
  const text = `${className(violation.class)}: ${duration(untilNs - fromNs)}`;
  const half = textWidth(text, FONT_PX) / 2;
  const middleX = Math.min(Math.max(x + width / 2, LEFT + half), RIGHT - half);
  const title = hover(
    `violation ${number}: ${className(violation.class)} on ${violation.key}`,
    `${exactMoment(fromNs)} – ${exactMoment(untilNs)} (${duration(untilNs - fromNs)})`,
    ...violation.holds.map((hold) => `${holdName(hold)}: history lines ${hold.evidence.slice(0, 20).join(', ')}`),
  );
  canvas.front.push(
    markup`<g class="mark" data-violation="${number}">${title}${box('mark-frame', { x, y: y + 16, width, height: bottom - y - 16 })}${box(`mark-bar ${kind}`, { x, y: y + 12.5, width, height: 4 })}<text class="mark-name" text-anchor="middle" x="${middleX}" y="${y + 10}">${text}</text>${lanes.map((lane) => box(`mark-span ${kind}`, { x, y: lane.y - 2, width, height: lane.height + 4 }))}</g>`,
  );
}

function markedLanes(canvas: Canvas): { y: number; height: number }[] {
  const { mark, story } = canvas.options;
  const slots = new Set(mark.violation.holds.map((hold) => story.slotOf.get(hold.client)?.name));
  return [...slots].flatMap((slot) => canvas.lanes.get(`slot ${slot}`) ?? []);
}
