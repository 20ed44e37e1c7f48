/** Above the lanes, always in sight: the whole run in a strip, phases, the axis, violations, faults and failovers. */
import type { FaultBand, PageData } from '../data/page-data.js';
import type { Pen } from './pen.js';

const STRIP = 22;
const PHASES = 13;
const AXIS = 16;
const MARKS = 17;
const ROW = 17;
const MOST_FAULT_ROWS = 5;

export interface Head {
  height: number;
  strip: { y: number; height: number };
  marksY: number;
  faults: { band: FaultBand; y: number }[];
  promotionsY: number;
}

export function layOutHead(data: PageData): Head {
  const marksY = STRIP + 6 + PHASES + AXIS;
  let y = marksY + (data.violations.length > 0 ? MARKS : 0);
  const ends: number[] = [];
  // What would be struck at once is drawn in rows; a short fault is taken for longer, so that its name has room.
  const room = (data.untilUs - data.fromUs) / 12;
  const faults = [...data.faults]
    .sort((a, b) => a.fromUs - b.fromUs)
    .map((band) => {
      let row = ends.findIndex((end) => end <= band.fromUs);
      if (row < 0) row = Math.min(ends.length, MOST_FAULT_ROWS - 1);
      ends[row] = Math.max(band.untilUs, band.fromUs + room);
      return { band, y: y + row * ROW };
    });
  y += ends.length * ROW;
  const promotionsY = y;
  if (data.promotions.length > 0) y += MARKS;
  return { height: y + 4, strip: { y: 0, height: STRIP }, marksY, faults, promotionsY };
}

export function drawHead(pen: Pen, data: PageData, head: Head): void {
  pen.clear();
  drawStrip(pen, data);
  drawPhases(pen, data, STRIP + 6);
  drawAxis(pen, STRIP + 6 + PHASES);
  if (data.violations.length > 0) drawMarks(pen, data, head.marksY);
  drawFaults(pen, head);
  drawPromotions(pen, data, head.promotionsY);
  const { atUs } = pen.view;
  if (atUs !== undefined) pen.vertical(pen.theme.colour('text'), atUs, STRIP + 4, pen.height, 1);
}

/** The whole run, and in it the time that is shown: drag it, or press anywhere. */
function drawStrip(pen: Pen, data: PageData): void {
  const { theme, view, left, right } = pen;
  const x = (us: number) => left + ((us - view.firstUs) / (view.lastUs - view.firstUs)) * (right - left);
  pen.fill(theme.colour('lane'), left, 0, right - left, STRIP);
  pen.text('run', 2, STRIP / 2, theme.colour('muted'), 10.5, left - 4);
  for (const { fromUs, untilUs } of data.faults)
    pen.fill(theme.colour('fault-soft'), x(fromUs), 0, Math.max(1, x(untilUs) - x(fromUs)), STRIP);
  let drawnTo = -1;
  for (const { fromUs, untilUs } of data.violations) {
    const [from, until] = [x(fromUs), Math.max(x(fromUs) + 2, x(untilUs))];
    if (until <= drawnTo) continue;
    drawnTo = until;
    pen.fill(theme.colour('bad'), from, STRIP / 3, until - from, STRIP / 3);
  }
  if (view.atUs !== undefined) pen.fill(theme.colour('text'), x(view.atUs), 0, 1, STRIP);
  const { context } = pen;
  context.strokeStyle = theme.colour('text');
  context.lineWidth = 1.5;
  context.strokeRect(x(view.fromUs) + 1, 1, Math.max(4, x(view.untilUs) - x(view.fromUs) - 2), STRIP - 2);
}

function drawPhases(pen: Pen, data: PageData, y: number): void {
  const { theme } = pen;
  data.phases.forEach(({ name, fromUs, untilUs }, at) => {
    if (!pen.sees(fromUs, untilUs)) return;
    const x = pen.clamped(fromUs);
    const width = pen.clamped(untilUs) - x;
    pen.fill(theme.colour(at % 2 === 0 ? 'lane' : 'absent'), x, y, width, PHASES - 2);
    pen.text(name, x + 4, y + 6, theme.colour('muted'), 9.5, width - 6);
  });
}

/** Round times, so far apart that their names have room. */
export function axisTimes(view: { fromUs: number; untilUs: number }, most: number): { us: number[]; decimals: number } {
  const rough = (view.untilUs - view.fromUs) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.9999) ?? 10) * power);
  const us: number[] = [];
  for (let n = Math.ceil(view.fromUs / step); n * step <= view.untilUs; n++) us.push(n * step);
  return { us, decimals: Math.max(0, Math.round(-Math.log10(step / 1e6) + 0.3)) };
}

function drawAxis(pen: Pen, y: number): void {
  const { theme, context } = pen;
  const { us, decimals } = axisTimes(pen.view, (pen.right - pen.left) / 90);
  for (const at of us) {
    pen.vertical(theme.colour('grid'), at, y, pen.height - y);
    context.font = theme.font(10.5);
    context.fillStyle = theme.colour('muted');
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const x = Math.min(Math.max(pen.x(at), pen.left + 18), pen.right - 22);
    context.fillText(`${(at / 1e6).toFixed(decimals)} s`, x, y + 8);
  }
}

function drawMarks(pen: Pen, data: PageData, y: number): void {
  const { theme } = pen;
  pen.text(pen.left > 60 ? 'violations' : 'viol.', 2, y + 8, theme.colour('bad'), 10.5, pen.left - 4, 600);
  let drawnTo = Number.NEGATIVE_INFINITY;
  let namedTo = Number.NEGATIVE_INFINITY;
  for (const mark of data.violations) {
    if (!pen.sees(mark.fromUs, mark.untilUs)) continue;
    const x = pen.clamped(mark.fromUs);
    const untilX = Math.max(x + 3, pen.clamped(mark.untilUs));
    if (untilX > drawnTo) pen.fill(theme.colour('bad'), x, y + 12, untilX - x, 3);
    drawnTo = Math.max(drawnTo, untilX);
    const name = String(mark.number);
    if (x < namedTo + 3) continue;
    pen.text(name, x, y + 6, theme.colour('bad'), 10.5, Infinity, 700);
    namedTo = x + name.length * 7;
  }
}

function drawFaults(pen: Pen, { faults }: Head): void {
  const { theme } = pen;
  const [first] = faults;
  if (first !== undefined) pen.text('faults', 2, first.y + 8, theme.colour('text'), 10.5, pen.left - 4, 600);
  for (const { band, y } of faults) {
    if (!pen.sees(band.fromUs, band.untilUs)) continue;
    const x = pen.clamped(band.fromUs);
    const width = Math.max(2, pen.clamped(band.untilUs) - x);
    pen.fill(theme.colour('fault-soft'), x, y, width, ROW - 3);
    pen.frame(theme.colour('fault'), band.fromUs, band.untilUs, y + 0.5, ROW - 4, band.open ? [4, 2] : [], 1);
    for (const { atUs } of band.did.slice(1)) pen.vertical(theme.colour('fault'), atUs, y, ROW - 3, 1.5);
    const words = `${band.number} ${band.name} → ${band.targets.join(', ')}`;
    pen.text(words, x + 4, y + 7.5, theme.colour('text'), 10, Math.max(pen.right - x - 6, 0) && Math.max(width, 120));
  }
}

function drawPromotions(pen: Pen, { promotions }: PageData, y: number): void {
  const { theme, context } = pen;
  if (promotions.length === 0) return;
  pen.text('failovers', 2, y + 8, theme.colour('text'), 10.5, pen.left - 4, 600);
  let namedTo = Number.NEGATIVE_INFINITY;
  for (const { node, atUs } of promotions) {
    if (!pen.sees(atUs, atUs)) continue;
    const x = pen.x(atUs);
    context.fillStyle = theme.colour('primary');
    context.beginPath();
    context.moveTo(x, y + 2);
    context.lineTo(x + 5, y + 8);
    context.lineTo(x, y + 14);
    context.lineTo(x - 5, y + 8);
    context.fill();
    if (x < namedTo) continue;
    pen.text(`${node} primary`, x + 8, y + 8, theme.colour('text'), 10);
    namedTo = x + 14 + node.length * 6 + 44;
  }
}
