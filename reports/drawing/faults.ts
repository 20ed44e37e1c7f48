/** Faults: a row of their own with what was done, and bands over the lanes of the hosts that were struck. */

import { duration, exactMoment } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import { type Markup, markup } from '../markup.js';
import { type FaultSpan, type FaultStory, faultNumber, type Touch } from '../story/faults.js';
import { type Canvas, RIGHT } from './canvas.js';
import { box, fitted, hover, label, line, rowOfEach, textWidth } from './pieces.js';

interface FaultBar {
  fault: FaultStory;
  span?: FaultSpan;
  x: number;
  untilX: number;
  text: string;
  title: Markup;
}

export function drawFaultRows(canvas: Canvas): void {
  const bars = canvas.options.story.faults.flatMap((fault) => faultBars(canvas, fault)).sort((a, b) => a.x - b.x);
  if (bars.length === 0) return;
  const rows = rowOfEach(
    bars.map((bar) => ({ from: bar.x, until: Math.max(bar.untilX, bar.x + textWidth(bar.text, 10.5) + 8) + 4 })),
    8,
  );
  canvas.main.push(label('lane-name', 4, canvas.y + 12, 'faults'));
  bars.forEach((bar, at) => {
    const y = canvas.y + (rows[at] ?? 0) * 18;
    const height = 15;
    const drawn =
      bar.span === undefined
        ? markup`${line('miss-fault', bar.x, y, bar.x, y + height, bar.title)}<text class="fault-name missed" x="${bar.x + 4}" y="${y + 11}">${fitted(bar.text, RIGHT - bar.x - 4, 10.5)}</text>`
        : markup`${box(`fault-bar ${bar.span.ended === 'open' ? 'unhealed' : ''}`, { x: bar.x, y, width: Math.max(2, bar.untilX - bar.x), height }, bar.title)}${faultMoments(canvas, bar.span, y, height)}<text class="fault-name" x="${bar.x + 5}" y="${y + 11}">${fitted(bar.text, RIGHT - bar.x - 5, 10.5)}</text>`;
    canvas.main.push(markup`<a href="${`#fault-${bar.fault.step + 1}`}">${drawn}</a>`);
  });
  canvas.y += (Math.max(...rows) + 1) * 18 + 4;
}

function faultBars(canvas: Canvas, fault: FaultStory): FaultBar[] {
  const name = `${faultNumber(fault.step)} ${fault.fault}`;
  const struck = fault.spans
    .filter((span) => canvas.sees(span.fromNs, span.untilNs))
    .map((span): FaultBar => {
      const targets = span.moments.find(({ record }) => record.state === 'strike')?.record.targets ?? [
        ...new Set(span.touches.map((touch) => touch.target)),
      ];
      const long = duration(span.untilNs - span.fromNs);
      return {
        fault,
        span,
        x: canvas.x(span.fromNs),
        untilX: canvas.x(span.untilNs),
        text: clipped(`${name} → ${targets.join(', ')}`, 48),
        title: hover(
          `${name}: ${exactMoment(span.fromNs)} – ${exactMoment(span.untilNs)} (${long})${span.ended === 'open' ? ', no heal in the record' : ''}`,
          ...span.moments.map(({ atNs, line: at, record }) =>
            clipped(`${exactMoment(atNs)} ${record.state}: ${record.did} (history line ${at})`, 300),
          ),
        ),
      };
    });
  // A miss that ended a span is drawn there; one that never began has only its moment.
  const missed = fault.misses
    .filter((miss) => canvas.sees(miss.atNs, miss.atNs))
    .map((miss): FaultBar => {
      const x = canvas.x(miss.atNs);
      return {
        fault,
        x,
        untilX: x + 2,
        text: clipped(`✕ ${name} ${miss.record.state}`, 48),
        title: hover(
          `${name} ${miss.record.state} at ${exactMoment(miss.atNs)} (history line ${miss.line})`,
          clipped(miss.record.did, 300),
          miss.record.proof === undefined ? undefined : clipped(miss.record.proof, 300),
        ),
      };
    });
  return [...struck, ...missed];
}

function faultMoments(canvas: Canvas, span: FaultSpan, y: number, height: number): Markup[] {
  return span.moments
    .filter(({ atNs }) => canvas.sees(atNs, atNs))
    .map(({ atNs, record }) =>
      line(
        'fault-moment',
        canvas.x(atNs),
        y,
        canvas.x(atNs),
        y + height,
        hover(`${exactMoment(atNs)} ${record.state}`, clipped(record.did, 300)),
      ),
    );
}

export function drawFaultBands(canvas: Canvas): void {
  for (const fault of canvas.options.story.faults) {
    for (const span of fault.spans) for (const touch of span.touches) drawBand(canvas, fault, span, touch);
  }
}

function drawBand(canvas: Canvas, fault: FaultStory, span: FaultSpan, { target, fromNs, untilNs }: Touch): void {
  const slot = canvas.options.story.slotOf.get(target)?.name;
  const lane = canvas.lanes.get(`host ${target}`) ?? canvas.lanes.get(`slot ${slot}`);
  if (lane === undefined || (lane.sharedBy ?? target) !== target || !canvas.sees(fromNs, untilNs)) return;
  const [x, untilX, y, bottom] = [canvas.x(fromNs), canvas.x(untilNs), lane.y - 2, lane.y + lane.height + 2];
  const title = hover(
    `${faultNumber(fault.step)} ${fault.fault} on ${target}`,
    `${exactMoment(fromNs)} – ${exactMoment(untilNs)}`,
  );
  const ended = span.ended !== 'open' || untilNs < span.untilNs;
  canvas.behind.push(box('fault-band', { x, y, width: Math.max(1, untilX - x), height: bottom - y }, title));
  if (fromNs >= canvas.scale.fromNs) canvas.front.push(line('fault-edge', x, y, x, bottom, title));
  if (ended && untilNs <= canvas.scale.untilNs) {
    canvas.front.push(line('fault-edge', untilX, y, untilX, bottom, title));
  }
}
