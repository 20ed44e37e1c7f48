/** How many held locks each fault struck over a campaign, by how long they were held, in how many strikes, and which bound that gives. Pure. */
import { strengthOf } from '../../checkers/index.js';
import type { HoldLength } from '../../harness/vocabulary/verdict.js';
import type { SheetCell } from '../../reports/index.js';
import type { CellRun } from './campaign-folder.js';
import type { GridCell } from './grid.js';
import { HOLD_LENGTHS } from './novelty.js';

export interface StruckRow {
  lock: string;
  topology: string;
  /** `:client` behind its name where it was on clients. */
  fault: string;
  struck: Record<HoldLength, number>;
  /** The bound that its strikes give, of those that can tell; none: something was found in a run with this fault. */
  bounds: Partial<Record<HoldLength, string>>;
}

/** A row for each fault on each lock on each topology, in the order of the cells, then by name. */
export function struckRows(cells: readonly GridCell[], runs: readonly CellRun[]): StruckRow[] {
  const abouts = new Map(cells.map(({ lock, topology }) => [JSON.stringify([lock, topology]), { lock, topology }]));
  return [...abouts.values()].flatMap(({ lock, topology }) => {
    const its = runs.filter(({ cell }) => cells[cell]!.lock === lock && cells[cell]!.topology === topology);
    const faults = new Set(its.flatMap(({ struck }) => struck?.faults.map(({ fault }) => fault) ?? []));
    return [...faults].sort().map((fault) => ({ lock, topology, fault, ...countsOf(fault, its) }));
  });
}

function countsOf(fault: string, runs: readonly CellRun[]): Pick<StruckRow, 'struck' | 'bounds'> {
  const having = runs.flatMap((run) => {
    const its = run.struck?.faults.find((one) => one.fault === fault);
    return its ? [{ run, ...its }] : [];
  });
  // What was held in runs of which nothing can be told bounds nothing.
  const told = having.filter(({ run }) => run.verdict === 'held');
  const nothingFound = having.every(({ run }) => run.found.length === 0);
  const sum = (among: typeof having, length: HoldLength) =>
    among.reduce((total, { struck }) => total + struck[length], 0);
  const struck: StruckRow['struck'] = { brief: 0, short: 0, long: 0, over: 0 };
  const bounds: StruckRow['bounds'] = {};
  for (const length of HOLD_LENGTHS) {
    struck[length] = sum(having, length);
    // Of runs of an earlier version the strikes were not counted.
    const counted = told.filter(({ strikes }) => strikes !== undefined);
    const strikes = counted.reduce((total, one) => total + one.strikes![length], 0);
    const bound = strengthOf({ strikes, struckHolds: sum(counted, length) });
    if (bound !== undefined && nothingFound) bounds[length] = bound;
  }
  return { struck, bounds };
}

export const STRUCK_TITLE = 'Struck holds, by fault and by how long they were held';
export const STRUCK_COLUMNS = [
  'lock',
  'on',
  'fault',
  'below a tenth of the lease',
  'below a third',
  'up to the lease',
  'longer',
];

export function struckCells(rows: readonly StruckRow[]): SheetCell[][] {
  return rows.map(({ lock, topology, fault, struck, bounds }) => [
    lock,
    topology,
    fault,
    ...HOLD_LENGTHS.map((length) => (bounds[length] ? `${struck[length]}: ${bounds[length]}` : String(struck[length]))),
  ]);
}
