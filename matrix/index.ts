/** The safety matrix: which lock survives which fault, cell by cell, each with the reason. */
import type { Cell } from './cell.js';
import { clientRows } from './clients.js';
import { replicaRows } from './replicas.js';
import { serverRows } from './servers.js';

export { type Cell, type CellOutcome, type Flags, nameOf } from './cell.js';

export const cells: readonly Cell[] = [...clientRows, ...serverRows, ...replicaRows];
