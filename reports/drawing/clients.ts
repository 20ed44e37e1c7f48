/** The lanes of the client slots: what each held, what it was refused, and when no process filled it. */

import { count, duration, durationOfMs, exactMoment, plural } from '../../harness/record/facts/words.js';
import { OUTCOME } from '../../harness/record/history-table.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { type Markup, markup } from '../markup.js';
import { missNs, missOf, type Slot } from '../story/slots.js';
import { holdName } from '../words.js';
import { type Canvas, drawHeading, LEFT, RIGHT } from './canvas.js';
import { type Bar, fullness, mergeRows, type SpanRow, sharedBars } from './merge.js';
import { box, fitted, hover, label, line, Packing } from './pieces.js';

/** Holds of one slot at the same time that get a row each; more share the last. */
const MOST_ROWS = 4;

/** What is drawn in one row, as numbers: of holds, or of rows of operations. */
interface Drawn {
  y: number;
  numbers: ArrayLike<number>;
}

export function drawSlots(canvas: Canvas): void {
  const { slots } = canvas.options;
  if (slots.length === 0) return;
  drawHeading(canvas, 'CLIENTS: what each held');
  const holdRows: Drawn[] = [];
  const missRows: Drawn[] = [];
  for (const slot of slots) {
    const rows = rowsOf(canvas, slot);
    const y = canvas.y;
    const height = rows.length * (canvas.sizes.bar + 1) + canvas.sizes.ticks;
    canvas.lanes.set(`slot ${slot.name}`, { y, height });
    canvas.behind.push(box('lane', { x: LEFT, y, width: RIGHT - LEFT, height }));
    canvas.main.push(...slotLabel(slot, y + canvas.sizes.bar - 2), ...absences(canvas, slot, y, height));
    for (const [row, numbers] of rows.entries()) holdRows.push({ y: y + row * (canvas.sizes.bar + 1), numbers });
    missRows.push({ y: y + height - canvas.sizes.ticks + 1, numbers: missesSeen(canvas, slot) });
    canvas.y += height + canvas.sizes.gap;
  }
  drawHolds(canvas, holdRows);
  drawMisses(canvas, missRows);
}

/** The slot's holds that are seen, by the row in which each is drawn; at least one row. */
function rowsOf(canvas: Canvas, slot: Slot): number[][] {
  const { fromNs, untilNs, grantSentNs } = canvas.options.story.holds;
  const packing = new Packing(MOST_ROWS);
  const rows: number[][] = [[]];
  for (const k of slot.holds) {
    const endNs = endOf(untilNs[k]!);
    if (!canvas.sees(Math.min(fromNs[k]!, grantSentNs[k]!), endNs)) continue;
    const row = packing.rowFor(fromNs[k]!, endNs);
    rows[row] ??= [];
    rows[row].push(k);
  }
  return rows;
}

function missesSeen(canvas: Canvas, slot: Slot): Int32Array {
  const { history } = canvas.options.story;
  return slot.misses.filter((row) => canvas.sees(missNs(history, row), missNs(history, row)));
}

function endOf(untilNs: number): number {
  return Number.isFinite(untilNs) ? untilNs : Number.POSITIVE_INFINITY;
}

function slotLabel(slot: Slot, y: number): Markup[] {
  const names = slot.lives.map((life) => life.client).join(', ');
  const about = `${plural(slot.holds.length, 'hold')}${slot.lives.length > 1 ? `, ${slot.lives.length} processes` : ''}`;
  return [
    markup`<text class="lane-name" x="4" y="${y}">${hover(`slot ${slot.name}: ${about}`, clipped(names, 300))}${fitted(slot.name, 50, 11)}</text>`,
  ];
}

/** When no process filled the slot, and the moments at which one ended. */
function absences(canvas: Canvas, slot: Slot, y: number, height: number): Markup[] {
  if (slot.lives.length === 0) {
    const known = slot.holds.length > 0 || slot.misses.length > 0;
    const text = known ? 'when it came up is not in the record' : 'never came up';
    return [
      known ? markup`` : box('absent', { x: LEFT, y, width: RIGHT - LEFT, height }),
      label('absent-name', LEFT + 6, y + 11, text),
    ];
  }
  const out: Markup[] = [];
  let goneNs = canvas.options.story.fromNs;
  for (const life of [...slot.lives, undefined]) {
    const backNs = life?.fromNs ?? canvas.options.story.untilNs;
    if (backNs > goneNs && canvas.sees(goneNs, backNs)) {
      const x = canvas.x(goneNs);
      out.push(
        box(
          'absent',
          { x, y, width: canvas.x(backNs) - x, height },
          hover(`no process in slot ${slot.name}`, `${exactMoment(goneNs)} – ${exactMoment(backNs)}`),
        ),
      );
    }
    goneNs = life?.down?.atNs ?? Number.POSITIVE_INFINITY;
    if (life?.down === undefined || !canvas.sees(goneNs, goneNs)) continue;
    const x = canvas.x(goneNs);
    const title = hover(
      `${life.client} was gone at ${exactMoment(goneNs)}`,
      clipped(life.down.reason, 300),
      `history line ${life.down.line}`,
    );
    out.push(
      markup`<g class="down">${title}<line x1="${x}" y1="${y - 2}" x2="${x}" y2="${y + height + 2}"/><path d="M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7"/></g>`,
    );
  }
  return out;
}

function drawHolds(canvas: Canvas, rows: readonly Drawn[]): void {
  const { fromNs, untilNs } = canvas.options.story.holds;
  const spans = rows.map(
    ({ numbers }): SpanRow => ({
      count: numbers.length,
      fromX: (n) => canvas.x(fromNs[numbers[n]!]!),
      untilX: (n) => canvas.x(endOf(untilNs[numbers[n]!]!)),
      apart: (n) => canvas.highlights(numbers[n]!),
    }),
  );
  const merged = mergeRows(spans, canvas.options.budget);
  const total = spans.reduce((sum, row) => sum + row.count, 0);
  const shared = sharedBars(merged.rows);
  if (shared.bars > 0) {
    canvas.notes.push(
      `${count(shared.spans)} of ${count(total)} holds are too close together to draw apart (${merged.tolerancePx} px) and share ${plural(shared.bars, 'paler bar')}; those of the violation are always drawn by themselves`,
    );
  }
  merged.rows.forEach((bars, at) => {
    const { y, numbers } = rows[at]!;
    for (const bar of bars)
      canvas.main.push(bar.count > 1 ? crowd(canvas, bar, numbers, y) : holdBar(canvas, numbers[bar.first]!, y));
  });
}

/** Several holds in the width of a pixel or two; the fuller their time was, the darker. */
function crowd(canvas: Canvas, bar: Bar, numbers: ArrayLike<number>, y: number): Markup {
  const { holds, history } = canvas.options.story;
  const times: [number, number][] = [];
  const byKey = new Map<number, number>();
  for (let n = bar.first; n < bar.first + bar.count; n++) {
    const k = numbers[n]!;
    times.push([holds.fromNs[k]!, endOf(holds.untilNs[k]!)]);
    byKey.set(holds.key[k]!, (byKey.get(holds.key[k]!) ?? 0) + 1);
  }
  const named = (key: number) => history.operations.keys[key]!;
  const keys = [...byKey].slice(0, 5).map(([key, times]) => `${named(key)} ×${times}`);
  const until = times.reduce((latest, [, untilNs]) => Math.max(latest, untilNs), 0);
  const part = fullness(times);
  const title = hover(
    `${bar.count} holds, ${exactMoment(times[0]![0])} – ${exactMoment(until)}, ${Math.round(part * 100)} % of that time`,
    clipped(keys.join(', '), 200),
  );
  const colour = byKey.size === 1 ? canvas.colour(named([...byKey.keys()][0]!)) : 'k-other';
  const [width, height] = [Math.max(1, bar.untilX - bar.fromX), canvas.sizes.bar - 2];
  return markup`<rect class="crowd ${colour}" opacity="${0.25 + 0.75 * part}" x="${bar.fromX}" y="${y + 1}" width="${width}" height="${height}">${title}</rect>`;
}

function holdBar(canvas: Canvas, k: number, y: number): Markup {
  const { bar } = canvas.sizes;
  const hold = canvas.options.story.holds.hold(k);
  const loud = canvas.highlights(k);
  const dim = hold.key !== canvas.options.mark.violation.key ? 'dim' : '';
  const colour = canvas.colour(hold.key);
  const height = bar - 5;
  const [x, untilX] = [canvas.x(hold.fromNs), canvas.x(endOf(hold.untilNs))];
  const leaseX = Math.min(untilX, Math.max(x, canvas.x(hold.leaseEndNs)));
  const stale = untilX - leaseX;
  const parts = [
    leaseX > x || stale === 0 ? box(`hold ${colour}`, { x, y, width: Math.max(1, leaseX - x), height }) : undefined,
    stale > 0 ? box(`hold-edge ${colour}`, { x: leaseX, y, width: Math.max(1, stale), height }) : undefined,
    stale > 0
      ? markup`<rect class="stale ${colour}" fill="url(#${`stale-${colour}`})" x="${leaseX}" y="${y}" width="${Math.max(1, stale)}" height="${height}"/>`
      : undefined,
    loud ? leaseLine(canvas, hold, colour, y + bar - 3) : undefined,
    holdLabel(hold, x, untilX, y + height - 4.5),
  ];
  return markup`<g class="hold-group ${dim}" data-hold="${`${hold.client}#${hold.id}`}">${holdHover(hold)}${parts}</g>`;
}

function holdLabel(hold: Hold, x: number, untilX: number, y: number): Markup | undefined {
  const token = hold.token === undefined ? '' : ` · token ${hold.token}`;
  const text = fitted(`${hold.client} #${hold.id} · ${hold.key}${token}`, untilX - x - 6, 10.5);
  return text === '' ? undefined : label('on-bar', x + 4, y, text);
}

/** From the grant's request to the end of the lease: what the lock promised, under what the client did. */
function leaseLine(canvas: Canvas, hold: Hold, colour: string, y: number): Markup {
  const [x, untilX] = [canvas.x(hold.grantSentNs), canvas.x(hold.leaseEndNs)];
  const end = Number.isFinite(hold.leaseEndNs) && hold.leaseEndNs <= canvas.scale.untilNs;
  return markup`${box(`lease ${colour}`, { x, y, width: Math.max(1, untilX - x), height: 2.5 })}${end ? line(`lease-end ${colour}`, untilX, y - 4, untilX, y + 4) : undefined}`;
}

function holdHover(hold: Hold): Markup {
  const staleNs = hold.untilNs - hold.leaseEndNs;
  return hover(
    `${holdName(hold)} held ${clipped(hold.key, 200)}`,
    `${exactMoment(hold.fromNs)} – ${exactMoment(hold.untilNs)} (${duration(hold.untilNs - hold.fromNs)}), ended by ${hold.endedBy}${hold.released === undefined ? '' : ` (${hold.released})`}`,
    `granted by a request sent at ${exactMoment(hold.grantSentNs)}; ${Number.isFinite(hold.leaseEndNs) ? `lease of ${durationOfMs(hold.leaseMs)} until ${exactMoment(hold.leaseEndNs)}` : 'no lease'}`,
    staleNs > 0 ? `stale for the last ${duration(staleNs)}` : undefined,
    hold.token === undefined ? undefined : `token ${hold.token}`,
    `history lines ${clipped(hold.evidence.join(', '), 120)}`,
  );
}

function drawMisses(canvas: Canvas, rows: readonly Drawn[]): void {
  const { history } = canvas.options.story;
  const { outcome } = history.operations;
  const ticks = rows.map(({ numbers }): SpanRow => {
    const x = (n: number) => canvas.x(missNs(history, numbers[n]!));
    return { count: numbers.length, fromX: x, untilX: x, apart: () => false };
  });
  const merged = mergeRows(ticks, canvas.options.budget);
  const shared = sharedBars(merged.rows);
  if (shared.bars > 0)
    canvas.notes.push(`${count(shared.spans)} refused or unclear operations share ${plural(shared.bars, 'tick')}`);
  merged.rows.forEach((bars, at) => {
    const { y, numbers } = rows[at]!;
    for (const tick of bars) {
      let unclear = tick.first;
      const end = tick.first + tick.count;
      while (unclear < end && outcome[numbers[unclear]!] !== OUTCOME.info) unclear++;
      const shown = missOf(history, numbers[unclear < end ? unclear : tick.first]!);
      const what = shown.outcome === 'info' ? 'cannot tell' : 'did not succeed';
      const title = hover(
        tick.count > 1
          ? `${tick.count} operations from ${exactMoment(missNs(history, numbers[tick.first]!))} on, for example:`
          : undefined,
        `${exactMoment(shown.atNs)} ${shown.client}: ${shown.op} of ${clipped(shown.key, 100)} ${what}: ${clipped(shown.reason, 200)}`,
        `history line ${shown.line}`,
      );
      const height = canvas.sizes.ticks - 1;
      const width = Math.max(1.2, tick.untilX - tick.fromX);
      canvas.main.push(box(`tick ${shown.outcome}`, { x: tick.fromX, y, width, height }, title));
    }
  });
}
