/**
 * A snapshot as lines for a terminal: a pure function. No line is wider than the terminal, and there are never so many that
 * nothing is left for what scrolls by above: the least important go first.
 */
import { type Display, type Line, name, paint, type StyledText, seconds, widthOf } from './lines.js';
import { type FaultView, type HolderView, type KeyView, MOST_SHOWN, type Snapshot } from './run-state.js';

/** Rows left to what scrolls by, and to the cursor's own line. */
const ROWS_KEPT = 4;
/** Narrower terminals have no room for labels. */
const LABELS_FROM = 60;
const LABEL_WIDTH = 8;
const NAME_WIDTH = 16;
const BAR_WIDTH = 24;
/** A release takes a few milliseconds; one that takes longer is worth a word. */
const SLOW_RELEASE_MS = 100;

const AFTER_THE_RUN: Partial<Record<Snapshot['phase'], string>> = {
  end: 'judging what was recorded',
  report: 'writing the report',
};

/** At least one line. */
export function render(snapshot: Snapshot, look: Display): string[] {
  // The last column stays free: a full line wraps as soon as anything follows it, a typed ^C for one.
  const width = Math.max(1, look.columns - 1);
  return layOut(snapshot, { ...look, columns: width }).map((line) => paint(line, width, look));
}

function layOut(snapshot: Snapshot, look: Display): Line[] {
  const room = Math.max(1, look.rows - ROWS_KEPT);
  const header = headerLine(snapshot, look);
  if (AFTER_THE_RUN[snapshot.phase] !== undefined || room === 1) return [header];
  const overlaps = snapshot.overlaps ? [overlapsLine(snapshot.overlaps, look)] : [];
  const operations = room > 1 + overlaps.length ? [operationsLine(snapshot, look)] : [];
  const left = room - 1 - overlaps.length - operations.length;
  const keys = snapshot.keys.map((key) => keyGroup(key, snapshot, look));
  // Half of the rest may go to faults, more if the keys do not need it.
  const keyRows = keys.reduce((sum, { lines }) => sum + lines.length, 0) + 1;
  const faults = fitFaults(snapshot, Math.max(Math.floor(left / 2), left - keyRows), look);
  return [
    header,
    ...operations,
    ...labelled('faults', faults, look),
    ...labelled('locks', fitKeys(keys, snapshot.moreKeys, left - faults.length), look),
    ...overlaps,
  ];
}

/** Phase, time and limit, with the run's own clock at the right where there is room. */
function headerLine({ phase, phaseForMs, torture, atMs }: Snapshot, look: Display): Line {
  const dash = look.unicode ? '─' : '-';
  const start: StyledText = ['dim', dash.repeat(2)];
  const after = AFTER_THE_RUN[phase];
  if (after !== undefined) return [start, ['bold', ` ${after}`], ['plain', ` ${seconds(phaseForMs)}`]];
  let line: Line = [start, ['bold', ` ${phase === 'start' ? 'starting' : phase} `]];
  if (torture && (phase === 'warm-up' || phase === 'torture')) {
    const elapsedMs = Math.min(torture.elapsedMs, torture.limitMs);
    line = [...line, ['plain', `${(elapsedMs / 1e3).toFixed(1)} of ${seconds(torture.limitMs)} `]];
    line = [...line, ...bar(elapsedMs / torture.limitMs, Math.min(BAR_WIDTH, look.columns - widthOf(line) - 1), look)];
  } else {
    line = [...line, ['plain', `${seconds(phaseForMs)} `]];
  }
  const room = look.columns - widthOf(line);
  const clock = `${dash.repeat(2)} at ${seconds(atMs)} `;
  const rule = room >= clock.length + 2 ? clock : '';
  return [...line, ['dim', rule + dash.repeat(Math.max(0, room - rule.length))]];
}

function bar(part: number, width: number, { unicode }: Display): StyledText[] {
  if (width < 4) return [];
  const full = Math.round(part * width);
  const [on, off] = unicode ? ['█', '░'] : ['#', '.'];
  return [
    ['green', on.repeat(full)],
    ['dim', `${off.repeat(width - full)} `],
  ];
}

function operationsLine({ operations, holds }: Snapshot, look: Display): Line {
  const { perSecond, grants, refusals, unknown } = operations;
  const rate = perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toFixed(1);
  return [
    label('clients', look),
    ['bold', `${rate} ops/s`],
    ['plain', `, ${grants} granted, ${refusals} refused, `],
    [unknown > 0 ? 'yellow' : 'plain', `${unknown} unknown`],
    ['plain', `, ${holds} held now`],
  ];
}

function overlapsLine({ exclusion, stale, more }: NonNullable<Snapshot['overlaps']>, look: Display): Line {
  if (exclusion + stale === 0) return [label('so far', look), ['dim', 'preliminary: no two holders at once']];
  return [
    label('so far', look),
    ['plain', 'preliminary: '],
    [exclusion > 0 ? 'red' : 'plain', `${exclusion} exclusion`],
    ['plain', ', '],
    [stale > 0 ? 'yellow' : 'plain', `${stale} stale`],
    ['plain', more ? ' and more' : ''],
    ['dim', ' (the checkers decide at the end)'],
  ];
}

function fitFaults({ faults, moreFaults }: Snapshot, room: number, look: Display): Line[] {
  if (room < 1) return [];
  if (faults.length === 0) return [[['dim', 'no fault in force']]];
  const all = faults.length + moreFaults;
  const shown = all <= room ? faults : faults.slice(0, room - 1);
  const lines = shown.map((fault) => faultLine(fault, look));
  const more = all - shown.length;
  if (more === 0) return lines;
  return [...lines, [['yellow', `${more}${shown.length > 0 ? ' more' : ''} fault${more === 1 ? '' : 's'} in force`]]];
}

function faultLine({ fault, targets, forMs, leftMs, stuck }: FaultView, look: Display): Line {
  const named = targets.slice(0, MOST_SHOWN.targets).map((target) => name(target, NAME_WIDTH, look));
  const whom = targets.length > named.length ? [...named, `${targets.length - named.length} more`] : named;
  const struck: Line = [
    ['yellow', [name(fault, NAME_WIDTH, look), whom.join(', ')].join(' ').trim()],
    ['plain', ` for ${seconds(forMs)}`],
  ];
  if (stuck) return [...struck, ['red', ', could not be healed']];
  if (leftMs === undefined) return struck;
  return [...struck, leftMs > 0 ? ['plain', `, ${seconds(leftMs)} to go`] : ['dim', ', being healed']];
}

/** All lines of one key. */
interface KeyGroup {
  lines: Line[];
  held: boolean;
  contested: boolean;
}

function keyGroup(view: KeyView, { keys }: Snapshot, look: Display): KeyGroup {
  const keyWidth = Math.max(...keys.map(({ key }) => Math.min(key.length, NAME_WIDTH)));
  const key = name(view.key, NAME_WIDTH, look).padEnd(keyWidth);
  const contested = view.contested !== undefined;
  const waiting: StyledText[] = view.waiting > 0 ? [['dim', `, ${view.waiting} waiting`]] : [];
  if (view.holders.length === 0) {
    return { lines: [[['plain', key], ['dim', '  free'], ...waiting]], held: false, contested };
  }
  const all = view.holders.length + view.moreHolders;
  const mark: StyledText = contested ? ['red', '! '] : ['plain', '  '];
  const lines = view.holders.map((holder, n): Line => {
    const more = n === view.holders.length - 1 && view.moreHolders > 0 ? `, and ${view.moreHolders} more` : '';
    return [
      ['plain', n === 0 ? key : ' '.repeat(keyWidth)],
      mark,
      ...holderPieces(holder, contested, look),
      ['red', more],
      ...(n > 0 ? [] : contested ? [['red', `, ${all} at once`] as const] : waiting),
    ];
  });
  return { lines, held: true, contested };
}

function holderPieces(
  { client, forMs, leaseLeftMs, releasingMs }: HolderView,
  contested: boolean,
  look: Display,
): StyledText[] {
  const who: StyledText = [contested ? 'red' : 'bold', name(client, NAME_WIDTH, look)];
  const since: StyledText = ['plain', ` for ${seconds(forMs)}`];
  const lease = leaseText(leaseLeftMs);
  if (releasingMs === undefined || releasingMs < SLOW_RELEASE_MS) return [who, since, lease];
  return [who, since, lease, ['yellow', `, told to release ${seconds(releasingMs)} ago`]];
}

function leaseText(leftMs: number | undefined): StyledText {
  if (leftMs === undefined) return ['plain', ', no lease'];
  return leftMs > 0 ? ['plain', `, lease ${seconds(leftMs)} left`] : ['yellow', `, lease over for ${seconds(-leftMs)}`];
}

/** As many keys as there is room for, contested ones before others; the rest is counted in one line. */
function fitKeys(groups: readonly KeyGroup[], more: Snapshot['moreKeys'], room: number): Line[] {
  const needed = groups.reduce((sum, { lines }) => sum + lines.length, 0);
  const chosen = new Set<KeyGroup>();
  const isAll = more.held + more.free === 0 && needed <= room;
  let left = isAll ? room : room - 1;
  for (const group of [...groups.filter((one) => one.contested), ...groups.filter((one) => !one.contested)]) {
    if (group.lines.length > left) break;
    chosen.add(group);
    left -= group.lines.length;
  }
  const lines = groups.flatMap((group) => (chosen.has(group) ? group.lines : []));
  if (isAll || room < 1) return lines;
  const hidden = groups.filter((group) => !chosen.has(group));
  const held = more.held + hidden.filter((group) => group.held).length;
  const free = more.free + hidden.filter((group) => !group.held).length;
  return [...lines, [['dim', `${lines.length > 0 ? 'others: ' : ''}${held} held, ${free} free`]]];
}

function labelled(text: string, lines: readonly Line[], look: Display): Line[] {
  return lines.map((line, n) => [label(n === 0 ? text : '', look), ...line]);
}

function label(text: string, look: Display): StyledText {
  return ['dim', look.columns < LABELS_FROM ? '' : text.padEnd(LABEL_WIDTH)];
}
