/** The safety matrix: which lock survives which fault, cell by cell, each with the reason. */
import { type Cell, nameOf } from './cell.js';
import { clientRows } from './clients.js';
import { externalRows } from './external.js';
import { replicaRows } from './replicas.js';
import { serverRows } from './servers.js';
import { comparedRows, serviceRows } from './services.js';

export { type Cell, type CellOutcome, type Flags, nameOf } from './cell.js';
export { whyNoCell } from './no-cell.js';
export { comparedPlaces } from './services.js';

/** What is run where nothing else is asked for: it needs no toolchain but the tool's own. */
export const ownCells: readonly Cell[] = [...clientRows, ...serverRows, ...replicaRows];
/** Of lock libraries of other languages. */
export const externalCells: readonly Cell[] = externalRows;
/** Of Redis beside other services: some of them are the matrix' own. */
export const serviceCells: readonly Cell[] = comparedRows;
export const cells: readonly Cell[] = [...ownCells, ...externalCells, ...serviceRows];

/** Of npm's lock libraries, and of this project's Redlock, to compare with. */
const npmCells: readonly Cell[] = [...clientRows, ...serverRows].filter(
  ({ lock, topology }) => lock.startsWith('third-party/') || (lock === 'redlock' && topology === 'redlock'),
);
/** What came of those of the published tables, below the project; a package has it not. */
export const MEASURED_FILE = 'matrix/measured/cells.json';
/** Those of the published tables. */
export const publishedCells: readonly Cell[] = [
  ...new Map([...npmCells, ...externalCells, ...serviceCells].map((cell) => [nameOf(cell), cell])).values(),
];
