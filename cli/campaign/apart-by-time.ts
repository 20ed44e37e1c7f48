/** Runs in virtual time are cells of their own: what was struck there is no strike on a real machine. Pure. */
import type { CellRun } from './campaign-folder.js';
import type { GridCell } from './grid.js';
import { IN_VIRTUAL_TIME } from './strikes-apart.js';

export function apartByTime(
  cells: readonly GridCell[],
  runs: readonly CellRun[],
): { cells: readonly GridCell[]; runs: readonly CellRun[] } {
  const all = [...cells];
  const placeOf = new Map<number, number>();
  for (const cell of new Set(runs.filter(({ virtualTime }) => virtualTime).map((run) => run.cell))) {
    const isMixed = runs.some((run) => run.cell === cell && !run.virtualTime);
    const place = isMixed ? all.length : cell;
    all[place] = { ...cells[cell]!, topology: `${cells[cell]!.topology}${IN_VIRTUAL_TIME}` };
    placeOf.set(cell, place);
  }
  return { cells: all, runs: runs.map((run) => (run.virtualTime ? { ...run, cell: placeOf.get(run.cell)! } : run)) };
}
