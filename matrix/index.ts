/** The safety matrix: which lock survives which fault, cell by cell, each with the reason. */
import type { Cell } from './cell.js';
import { clientRows } from './clients.js';
import { externalRows } from './external.js';
import { replicaRows } from './replicas.js';
import { serverRows } from './servers.js';
import { comparedRows, serviceRows } from './services.js';

export { type Cell, type CellOutcome, type Flags, nameOf } from './cell.js';
export { comparedPlaces } from './services.js';

/** What is run where nothing else is asked for: it needs no toolchain but the tool's own. */
export const ownCells: readonly Cell[] = [...clientRows, ...serverRows, ...replicaRows];
/** Of lock libraries of other languages. */
export const externalCells: readonly Cell[] = externalRows;
/** Of Redis beside other services: some of them are the matrix' own. */
export const serviceCells: readonly Cell[] = comparedRows;
export const cells: readonly Cell[] = [...ownCells, ...externalCells, ...serviceRows];

/** Whose results are published: `matrix/measured/<name>.json` has them. */
export const publishedGroups = { external: externalCells, services: serviceCells } satisfies Record<
  string,
  readonly Cell[]
>;
export type PublishedGroup = keyof typeof publishedGroups;
