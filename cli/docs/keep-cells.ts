/** `matrix --keep`: what cells came to goes into the file that the published tables are made of. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../harness/machine/project-files.js';
import { type Cell, MEASURED_FILE, nameOf, publishedCells } from '../../matrix/index.js';
import type { CellRow } from '../batches/matrix-cells.js';
import { type MeasuredCell, measuredCells, measuredSchema } from './measured.js';
import { writePages } from './pages.js';

/** Keeps them beside what is there, and makes the pages anew. Returns how many cells of the tables are in the file now, and of how many. */
export async function keepCells(rows: readonly CellRow[]): Promise<{ kept: number; of: number }> {
  const cells = keptCells(measuredCells(), rows, publishedCells);
  writeFileSync(join(PROJECT, MEASURED_FILE), `${JSON.stringify(measuredSchema.parse({ cells }), undefined, 2)}\n`);
  await writePages(['published-libraries.md', 'which-lock.md']);
  return { kept: cells.length, of: publishedCells.length };
}

/** Cells in the order of the matrix; what the matrix has no longer, or expects otherwise by now, goes. */
export function keptCells(
  before: readonly MeasuredCell[],
  rows: readonly CellRow[],
  of: readonly Cell[],
): MeasuredCell[] {
  const expected = new Map(of.map((cell) => [nameOf(cell), cell.expect]));
  const cells = new Map<string, MeasuredCell>();
  for (const cell of before) {
    const name = `${cell.fault}/${cell.lock}@${cell.topology}`;
    if (expected.get(name) === cell.came || cell.came === 'open' || cell.came === 'not-tried') cells.set(name, cell);
  }
  for (const row of rows) {
    if (expected.get(row.cell) !== row.expect) continue;
    const cell = measuredOf(row, cells.get(row.cell));
    if (cell) cells.set(row.cell, cell);
  }
  return of.flatMap((cell) => cells.get(nameOf(cell)) ?? []);
}

/** In a headline, of what it tells first. */
const UNEXPLAINED = /first at [^)]*unexplained/;

/** Undefined: what was known before stays. */
function measuredOf(row: CellRow, before: MeasuredCell | undefined): MeasuredCell | undefined {
  const { lock, fault, topology, reason, why, came, shown, day, tortured, strikes, virtualStrikes, runs } = row;
  const isExpected = shown === 'as-expected' && came !== undefined;
  const isOfVirtualTime = row.virtualTime === true;
  if (day === undefined) return undefined;
  // Nothing was shown, which takes nothing back.
  if (!isExpected && shown !== 'otherwise') {
    const isNew = before === undefined || before.came === 'not-tried';
    return shown === 'not-tried' && isNew && !isOfVirtualTime
      ? { lock, fault, topology, came: 'not-tried', headline: why, reason, day }
      : undefined;
  }
  const isUnexplained = UNEXPLAINED.test(why);
  // What an earlier run explained stands.
  if (isExpected && isUnexplained && before?.came === came) return undefined;
  const told = isExpected && !isUnexplained ? came : 'open';
  // In virtual time a safe cell has strikes more; what was found in real time, or is asked for there, is not replaced by it.
  if (isOfVirtualTime) {
    if (told !== 'safe' || (before !== undefined && before.came !== 'safe')) return undefined;
    return before && { ...before, virtualStrikes, day };
  }
  const reproduce = runs.at(-1)?.reproduce;
  return {
    ...{ lock, fault, topology, came: told },
    ...(strikes !== undefined && { strikes }),
    ...(before?.virtualStrikes !== undefined && told === 'safe' && { virtualStrikes: before.virtualStrikes }),
    ...{ headline: why, reason, day },
    ...(tortured !== undefined && { server: tortured }),
    ...(reproduce !== undefined && { reproduce }),
  };
}
