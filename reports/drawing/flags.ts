/** Numbered flags: the steps of a cause, over everything that a close-up shows. */

import { exactMoment } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import { markup } from '../markup.js';
import type { Canvas } from './canvas.js';
import { hover, label, line, rowOfEach } from './pieces.js';

const FLAG_RADIUS = 8;

export function drawFlags(canvas: Canvas): void {
  const flags = canvas.options.flags.filter((flag) => canvas.sees(flag.atNs, flag.atNs));
  if (flags.length === 0) return;
  const spans = flags.map((flag) => ({
    from: canvas.x(flag.atNs) - FLAG_RADIUS,
    until: canvas.x(flag.atNs) + FLAG_RADIUS + 1,
  }));
  const rows = rowOfEach(spans, 6);
  flags.forEach((flag, at) => {
    const x = canvas.x(flag.atNs);
    const y = canvas.y + FLAG_RADIUS + 1 + (rows[at] ?? 0) * (2 * FLAG_RADIUS + 2);
    canvas.front.push(
      markup`<g class="flag">${hover(`${flag.number}. ${exactMoment(flag.atNs)}`, clipped(flag.text, 300))}<circle cx="${x}" cy="${y}" r="${FLAG_RADIUS}"/><text text-anchor="middle" x="${x}" y="${y + 3.5}">${flag.number}</text></g>`,
    );
    canvas.lanes.set(`flag ${flag.number}`, { y: y + FLAG_RADIUS, height: 0 });
  });
  canvas.main.push(label('lane-name muted', 4, canvas.y + 12, 'steps'));
  canvas.y += (Math.max(...rows) + 1) * (2 * FLAG_RADIUS + 2) + 2;
}

export function drawFlagLines(canvas: Canvas): void {
  for (const flag of canvas.options.flags) {
    const lane = canvas.lanes.get(`flag ${flag.number}`);
    if (lane !== undefined)
      canvas.front.unshift(line('flag-line', canvas.x(flag.atNs), lane.y, canvas.x(flag.atNs), canvas.y));
  }
}
