/**
 * The lanes. What a frame costs depends on how many pixels there are, not on how many events: of bars that would share
 * a pixel column, the first is drawn. Violations are always drawn.
 */
import type { FaultBand, PageData, TryList } from '../data/page-data.js';
import { type BarRow, endOf, firstWhere, type Lane, type Layout, SIZES } from './lanes.js';
import type { Pen } from './pen.js';

export function drawLanes(pen: Pen, data: PageData, layout: Layout): void {
  pen.clear();
  for (const { y, text } of layout.headings) pen.text(text, 2, y + 12, pen.theme.colour('muted'), 10.5, pen.width - 4);
  for (const lane of layout.lanes) {
    pen.fill(pen.theme.colour('lane'), pen.left, lane.y, pen.right - pen.left, lane.height);
    drawAbsence(pen, lane);
    drawTouches(pen, data.faults, lane);
    if (lane.kind === 'slot') drawSlot(pen, data, lane);
    if (lane.kind === 'node') drawNode(pen, data, lane);
    pen.text(lane.name, 2, lane.y + 8, pen.theme.colour('text'), 11, pen.left - 6, 600);
  }
  drawViolations(pen, data, layout);
  if (pen.view.atUs !== undefined) pen.vertical(pen.theme.colour('text'), pen.view.atUs, 0, pen.height, 1);
}

type SlotLane = Extract<Lane, { kind: 'slot' }>;
type NodeLane = Extract<Lane, { kind: 'node' }>;

/** When no process filled the slot. */
function drawAbsence(pen: Pen, lane: Lane): void {
  if (lane.kind !== 'slot') return;
  const absent = pen.theme.colour('absent');
  let goneUs = pen.view.firstUs;
  for (const life of lane.slot.lives) {
    if (life.fromUs > goneUs && pen.sees(goneUs, life.fromUs))
      pen.span(absent, goneUs, life.fromUs, lane.y, lane.height, 0);
    goneUs = life.untilUs < 0 ? Number.POSITIVE_INFINITY : life.untilUs;
  }
  if (lane.slot.lives.length > 0 && goneUs < pen.view.untilUs)
    pen.span(absent, goneUs, pen.view.untilUs, lane.y, lane.height, 0);
  if (lane.slot.lives.length === 0 && lane.slot.holds.fromUs.length === 0)
    pen.text('never came up', pen.left + 6, lane.y + lane.height / 2, pen.theme.colour('muted'), 10);
}

/** The bands of faults, with what they did to this host in words. */
function drawTouches(pen: Pen, faults: readonly FaultBand[], lane: Lane): void {
  const { theme } = pen;
  for (const fault of faults)
    for (const touch of fault.touches) {
      if (!touchesLane(touch.host, lane) || !pen.sees(touch.fromUs, touch.untilUs)) continue;
      const x = pen.clamped(touch.fromUs);
      const width = Math.max(1, pen.clamped(touch.untilUs) - x);
      pen.fill(theme.colour('fault-soft'), x, lane.y, width, lane.height);
      if (touch.kinds.includes('stopped') || touch.kinds.includes('down'))
        pen.fill(theme.hatch(pen.context, 'fault'), x, lane.y + lane.height - 4, width, 4);
      pen.vertical(theme.colour('fault'), touch.fromUs, lane.y, lane.height, 1.5);
      if (lane.kind === 'host')
        pen.text(`${fault.number} ${touch.kinds.join(', ')}`, x + 4, lane.y + 7, theme.colour('text'), 9.5, width - 6);
    }
}

/** A fault names processes (`c1.2`), a lane is a slot (`c1`), or one of several callers in it (`c1-b`). */
export function touchesLane(host: string, lane: Lane): boolean {
  if (host === lane.name) return true;
  return (
    lane.kind === 'slot' &&
    (host === ofProcess(lane.name) || lane.slot.lives.some(({ client }) => ofProcess(client) === host))
  );
}

function ofProcess(caller: string): string {
  return caller.replace(/-[a-z]$/, '');
}

function drawSlot(pen: Pen, data: PageData, lane: SlotLane): void {
  for (const row of lane.rows) drawHolds(pen, data, lane, row);
  drawTries(pen, lane.slot.tries, lane.triesY);
  for (const { untilUs } of lane.slot.lives)
    if (untilUs >= 0 && pen.sees(untilUs, untilUs)) drawDeath(pen, untilUs, lane.y, lane.height);
}

function drawDeath(pen: Pen, us: number, y: number, height: number): void {
  pen.vertical(pen.theme.colour('text'), us, y - 2, height + 4, 1.6);
  const x = pen.x(us);
  const { context } = pen;
  context.beginPath();
  context.moveTo(x - 3.5, y - 3);
  context.lineTo(x + 3.5, y + 4);
  context.moveTo(x + 3.5, y - 3);
  context.lineTo(x - 3.5, y + 4);
  context.stroke();
}

function drawHolds(pen: Pen, data: PageData, lane: SlotLane, row: BarRow): void {
  const { holds, lives } = lane.slot;
  const { theme, usPerPx, left, right, view } = pen;
  const height = SIZES.bar;
  let drawnTo = Number.NEGATIVE_INFINITY;
  const first = Math.max(
    0,
    firstWhere(row.holds.length, (n) => endOf(holds.fromUs, holds.lengthUs, row.holds[n]!) >= view.fromUs) - 1,
  );
  for (let at = first; at < row.holds.length; at++) {
    const n = row.holds[at]!;
    const fromUs = holds.fromUs[n]!;
    if (fromUs - holds.waitUs[n]! > view.untilUs) break;
    const untilUs = endOf(holds.fromUs, holds.lengthUs, n);
    const untilX = pen.clamped(untilUs);
    if (untilX < drawnTo + 1 && untilUs - fromUs < usPerPx) continue;
    const x = pen.clamped(fromUs);
    const width = Math.max(1, untilX - x);
    drawnTo = x + width;
    const colour = theme.key(holds.key[n]!);
    if (holds.waitUs[n]! > 2 * usPerPx)
      pen.span(theme.colour('wait'), fromUs - holds.waitUs[n]!, fromUs, row.y + 6, 3, 0);
    if (untilUs < view.fromUs || fromUs > view.untilUs) continue;
    if (holds.count[n]! > 1) {
      pen.context.globalAlpha = 0.25 + 0.6 * (holds.full[n]! / 100);
      pen.fill(colour, x, row.y, width, height);
      pen.context.globalAlpha = 1;
      continue;
    }
    const leaseX =
      holds.leaseUs[n]! < 0 ? untilX : Math.min(untilX, Math.max(x, pen.clamped(fromUs + holds.leaseUs[n]!)));
    pen.fill(colour, x, row.y, leaseX >= untilX ? width : leaseX - x, height);
    if (untilX > leaseX) {
      pen.fill(theme.colour('page'), leaseX, row.y, untilX - leaseX, height);
      pen.fill(theme.hatch(pen.context, `k${Math.max(0, holds.key[n]!) % 8}`), leaseX, row.y, untilX - leaseX, height);
      pen.context.strokeStyle = colour;
      pen.context.lineWidth = 1;
      pen.context.strokeRect(leaseX + 0.5, row.y + 0.5, untilX - leaseX - 1, height - 1);
    }
    if (width < 24 || x >= right || untilX <= left) continue;
    const client = lives[holds.life[n]!]?.client ?? lane.name;
    const words = `${client} #${holds.id[n]} · ${data.keys[holds.key[n]!] ?? ''}`;
    const room = leaseX - x - 6;
    if (!pen.text(words, x + 4, row.y + height / 2 + 0.5, theme.colour('on-bar'), 10, room))
      pen.name(data.keys[holds.key[n]!] ?? '', x + 3, row.y + height / 2 + 0.5, theme.colour('on-bar'), 10, room);
  }
}

/** Tries that came to nothing: a thin line for as long as they took, and how they ended. */
function drawTries(pen: Pen, tries: TryList, y: number): void {
  const { theme, view, usPerPx } = pen;
  const colours = [theme.colour('crowd'), theme.colour('fault'), theme.colour('fault')];
  let drawnTo = Number.NEGATIVE_INFINITY;
  // They do not overlap but where a process died, so that starting one earlier is enough.
  const first = firstWhere(tries.fromUs.length, (n) => endOf(tries.fromUs, tries.lengthUs, n) >= view.fromUs);
  for (let n = Math.max(0, first - 1); n < tries.fromUs.length; n++) {
    const fromUs = tries.fromUs[n]!;
    if (fromUs > view.untilUs) break;
    const untilUs = endOf(tries.fromUs, tries.lengthUs, n);
    if (untilUs < view.fromUs) continue;
    const untilX = pen.clamped(untilUs);
    const unclear = tries.outcome[n]! > 0;
    if (untilX < drawnTo + 1 && !unclear && untilUs - fromUs < usPerPx) continue;
    drawnTo = untilX;
    const colour = colours[tries.outcome[n]!]!;
    const x = pen.clamped(fromUs);
    if (unclear) pen.fill(theme.hatch(pen.context, 'fault'), x, y + 1, Math.max(2, untilX - x), SIZES.tries - 2);
    else pen.fill(colour, x, y + 3, Math.max(0, untilX - x), 1.2);
    if (untilUs <= view.untilUs) pen.fill(colour, untilX - 1, y + 1, 1.6, SIZES.tries - 2);
  }
}

const ROLE_WORDS: Record<string, string> = {
  primary: 'primary',
  replica: 'replica',
  'replica-cut': 'replica, link down',
  unknown: 'role unknown',
  unwatched: 'not watched (down or stopped)',
};

export function roleWords(role: NodeLane['node']['roles'][number]): string {
  const skew = role.skewMs === 0 ? '' : `, clock ${role.skewMs > 0 ? '+' : '−'}${Math.abs(role.skewMs)} ms`;
  return `${ROLE_WORDS[role.state] ?? role.state}${skew}`;
}

function drawNode(pen: Pen, data: PageData, lane: NodeLane): void {
  const { theme } = pen;
  for (const role of lane.node.roles) {
    if (!pen.sees(role.fromUs, role.untilUs)) continue;
    const x = pen.clamped(role.fromUs);
    const width = pen.clamped(role.untilUs) - x;
    const isPrimary = role.state === 'primary';
    if (role.state === 'unwatched') pen.fill(theme.hatch(pen.context, 'crowd'), x, lane.y, width, SIZES.role);
    else
      pen.fill(
        theme.colour(isPrimary ? 'primary' : role.state === 'unknown' ? 'absent' : 'replica'),
        x,
        lane.y,
        width,
        SIZES.role,
      );
    if (role.state === 'replica-cut')
      pen.frame(theme.colour('fault'), role.fromUs, role.untilUs, lane.y + 0.5, SIZES.role - 1, [4, 2], 1);
    if (role.skewMs !== 0) pen.fill(theme.colour('skew'), x, lane.y + SIZES.role - 3, width, 3);
    const colour = theme.colour(isPrimary ? 'on-primary' : role.state === 'unwatched' ? 'text' : 'on-replica');
    pen.text(roleWords(role), x + 4, lane.y + 7, colour, 9.5, width - 6);
  }
  for (const { key, y } of lane.keys) {
    pen.context.textAlign = 'right';
    drawOwners(pen, data, lane, key, y);
    if (pen.left > 60) keyName(pen, data.keys[key] ?? '', y);
  }
  for (const us of lane.node.restartsUs) pen.vertical(theme.colour('good'), us, lane.y - 2, SIZES.role + 4, 2);
  for (const { atUs, key } of lane.node.evictions) {
    const row = lane.keys.find((one) => one.key === key);
    if (row !== undefined) pen.vertical(theme.colour('fault'), atUs, row.y - 1, SIZES.owner + 2, 2);
  }
}

function keyName(pen: Pen, name: string, y: number): void {
  const { context } = pen;
  context.font = pen.theme.font(9);
  context.fillStyle = pen.theme.colour('muted');
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const letters = Math.floor((pen.left - 8) / 5.2);
  context.fillText(name.length > letters ? `…${name.slice(1 - letters)}` : name, pen.left - 4, y + SIZES.owner / 2);
}

function drawOwners(pen: Pen, data: PageData, lane: NodeLane, key: number, y: number): void {
  const list = lane.node.owners[key];
  if (list === undefined) return;
  const { theme, view, usPerPx } = pen;
  const colour = theme.key(data.keys[key] === undefined ? -1 : key);
  let drawnTo = Number.NEGATIVE_INFINITY;
  const first = firstWhere(list.fromUs.length, (n) => endOf(list.fromUs, list.lengthUs, n) >= view.fromUs);
  for (let n = first; n < list.fromUs.length; n++) {
    const fromUs = list.fromUs[n]!;
    if (fromUs > view.untilUs) break;
    const untilUs = endOf(list.fromUs, list.lengthUs, n);
    const untilX = pen.clamped(untilUs);
    if (untilX < drawnTo + 1 && untilUs - fromUs < usPerPx) continue;
    const x = pen.clamped(fromUs);
    const width = Math.max(1, untilX - x - (untilX - x > 4 ? 1 : 0));
    drawnTo = x + width;
    const owner = list.names[list.owner[n]!] ?? '';
    pen.context.globalAlpha = owner.startsWith('?') ? 0.5 : 0.85;
    pen.fill(colour, x, y, width, SIZES.owner);
    pen.context.globalAlpha = 1;
    pen.name(owner, x + 3, y + SIZES.owner / 2 + 0.5, theme.colour('on-bar'), 9.5, width - 4);
  }
}

/** Violations in sight that are tinted, and that have each a frame of its own. */
const MOST_TINTED = 60;
const MOST_FRAMED = 500;

function drawViolations(pen: Pen, data: PageData, { lanes }: Layout): void {
  const bad = pen.theme.colour('bad');
  const slots = lanes.filter((lane) => lane.kind === 'slot');
  const marks = data.violations.filter(({ fromUs, untilUs }) => pen.sees(fromUs, untilUs));
  const drawnTo = new Map<string, number>();
  for (const mark of marks) {
    const dash = mark.class === 'stale' ? [4, 2] : [];
    const x = pen.clamped(mark.fromUs);
    const untilX = Math.max(x + 3, pen.clamped(mark.untilUs));
    for (const lane of slots) {
      // Where no client is named (a deadlock), it concerns them all.
      if (mark.slots.length > 0 && !mark.slots.includes(lane.name)) continue;
      // Thousands of them share their red where they touch.
      if (marks.length > MOST_FRAMED && untilX < (drawnTo.get(lane.name) ?? 0) + 1) continue;
      drawnTo.set(lane.name, untilX);
      // Of very many the tint would hide what they are about.
      if (marks.length <= MOST_TINTED)
        pen.fill(pen.theme.colour('bad-soft'), x, lane.y - 2, untilX - x, lane.height + 4);
      pen.frame(bad, mark.fromUs, mark.untilUs, lane.y - 2, lane.height + 4, dash);
    }
  }
}
