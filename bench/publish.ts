/** `npm run bench -- publish <matrix folder>...`: keeps what came of lock libraries of other languages for the published tables. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { cellRow } from '../cli/batches/matrix-command.js';
import { UsageError } from '../cli/common/errors.js';
import { type Measured, measuredSchema } from '../cli/docs/libraries-tables.js';
import { inProject } from '../harness/machine/project-files.js';
import { externalCells, nameOf } from '../matrix/index.js';

const FILE = 'matrix/measured/external.json';
const matrixFile = z.object({ rows: z.array(cellRow) });

/**
 * Of several matrices the last that came to something counts for a cell. What proves nothing is left out, and so is what came
 * otherwise than it must, until somebody has looked at why.
 */
export async function benchPublish(argv: string[]): Promise<void> {
  const [server, ...folders] = argv;
  if (server === undefined || folders.length === 0)
    throw new UsageError('publish what? the server and the folders of matrices: publish "Redis 7.0.15" runs/<matrix>');
  const known = new Map(externalCells.map((cell, place) => [nameOf(cell), place]));
  const cells = new Map<string, Measured['cells'][number]>();
  for (const folder of folders) {
    const { rows } = matrixFile.parse(JSON.parse(readFileSync(join(resolve(folder), 'matrix.json'), 'utf8')));
    for (const { cell, lock, fault, topology, came, shown, why, runs } of rows) {
      const reproduce = runs.at(-1)?.reproduce;
      if (!known.has(cell) || shown !== 'as-expected' || came === undefined || reproduce === undefined) continue;
      cells.set(cell, { lock, fault, topology, came, headline: why, reproduce });
    }
  }
  const day = folders
    .map((folder) => basename(resolve(folder)).slice(0, 'YYYY-MM-DD'.length))
    .sort()
    .at(-1)!;
  const sorted = [...cells].sort(([a], [b]) => known.get(a)! - known.get(b)!).map(([, cell]) => cell);
  const measured = measuredSchema.parse({ day, server, cells: sorted });
  writeFileSync(inProject(FILE), `${JSON.stringify(measured, undefined, 2)}\n`);
  process.stdout.write(`${sorted.length} of ${known.size} cells are in ${FILE}; now: npm run docs\n`);
}
