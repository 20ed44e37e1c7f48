/** The safety matrix: which lock survives which fault, cell by cell, each with the reason. */
import type { Cell } from './cell.js';
import { clientRows } from './clients.js';
import { externalRows } from './external.js';
import { replicaRows } from './replicas.js';
import { serverRows } from './servers.js';

export { type Cell, type CellOutcome, type Flags, nameOf } from './cell.js';

/** What is run where nothing else is asked for: it needs no toolchain but the tool's own. */
export const ownCells: readonly Cell[] = [...clientRows, ...serverRows, ...replicaRows];
/** Of lock libraries of other languages. */
export const externalCells: readonly Cell[] = externalRows;
export const cells: readonly Cell[] = [...ownCells, ...externalCells];
