/** Phases, the time axis and its grid. */

import { count, exactMoment } from '../../harness/record/facts/words.js';
import { markup } from '../markup.js';
import { type Canvas, RIGHT } from './canvas.js';
import { box, fitted, hover, label, line } from './pieces.js';
import { axisMoments } from './scale.js';

export function drawPhases(canvas: Canvas): void {
  canvas.options.story.phases.forEach((phase, at) => {
    if (phase.phase === 'end' || !canvas.sees(phase.fromNs, phase.untilNs)) return;
    const x = canvas.x(phase.fromNs);
    const width = canvas.x(phase.untilNs) - x;
    const title = hover(
      `phase ${phase.phase}: ${exactMoment(phase.fromNs)} – ${exactMoment(phase.untilNs)}`,
      `history line ${phase.line}`,
    );
    canvas.main.push(box(`phase ${at % 2 ? 'odd' : ''}`, { x, y: canvas.y, width, height: 15 }, title));
    canvas.main.push(label('in-band', x + 4, canvas.y + 11, fitted(phase.phase, width - 6, 10)));
  });
  canvas.main.push(label('lane-name muted', 4, canvas.y + 11, 'phase'));
  canvas.y += 17;
}

export function drawAxis(canvas: Canvas): number {
  const { momentsNs, decimals } = axisMoments(canvas.scale, 14);
  for (const ns of momentsNs) {
    const x = canvas.x(ns);
    const anchor = x > RIGHT - 16 ? 'end' : 'middle';
    const at = anchor === 'end' ? RIGHT : x;
    canvas.main.push(
      markup`<text class="axis" text-anchor="${anchor}" x="${at}" y="${canvas.y + 11}">${axisMoment(ns, decimals)}</text>`,
    );
  }
  canvas.main.push(label('lane-name muted', 4, canvas.y + 11, 'time'));
  canvas.y += 16;
  return canvas.y;
}

/** In seconds, or where these would need more than three digits after the point in smaller units. */
function axisMoment(ns: number, decimals: number): string {
  if (decimals > 6) return `${count(ns / 1e3)} µs`;
  return decimals > 3 ? exactMoment(ns) : `${(ns / 1e9).toFixed(decimals)} s`;
}

export function drawGrid(canvas: Canvas, fromY: number): void {
  for (const ns of axisMoments(canvas.scale, 14).momentsNs) {
    canvas.behind.push(line('grid', canvas.x(ns), fromY, canvas.x(ns), canvas.y));
  }
}
