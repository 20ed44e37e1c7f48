/**
 * `npm run bench -- publish external|services <matrix folder>...`: keeps what came of lock libraries of other languages, or of locks
 * on other services, for the published tables.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { cellRow } from '../cli/batches/matrix-file.js';
import { UsageError } from '../cli/common/errors.js';
import { type Measured, type MeasuredCell, measuredFile, measuredSchema } from '../cli/docs/measured.js';
import { PROJECT } from '../harness/machine/project-files.js';
import { topologies } from '../harness/topologies/index.js';
import { services } from '../harness/topologies/services.js';
import { type Cell, nameOf, type PublishedGroup, publishedGroups } from '../matrix/index.js';
import { benchCommand } from './command.js';

/** In a headline, of what it tells first. */
const UNEXPLAINED = /first at [^)]*unexplained/;

const matrixFile = z.object({ rows: z.array(cellRow) });

export async function benchPublish(argv: string[]): Promise<void> {
  const command = benchCommand('publish')
    .argument('<group>', Object.keys(publishedGroups).join(' or '))
    .argument('<folders...>', 'of matrices');
  command.parse(argv, { from: 'user' });
  const [group = '', ...folders] = command.args;
  if (!Object.hasOwn(publishedGroups, group))
    throw new UsageError(
      `publish what? one of ${Object.keys(publishedGroups).join(', ')} and the folders of matrices: publish services runs/<matrix>`,
    );
  const cells = publishedGroups[group as PublishedGroup];
  const file = measuredFile(group as PublishedGroup);
  const measured = publishable(
    folders.map((folder) => resolve(folder)),
    cells,
  );
  writeFileSync(join(PROJECT, file), `${JSON.stringify(measuredSchema.parse(measured), undefined, 2)}\n`);
  process.stdout.write(`${measured.cells.length} of ${cells.length} cells are in ${file}; now: npm run docs\n`);
}

/**
 * Of several matrices the last that came to something counts for a cell. What proves nothing is left out, and so is what came
 * otherwise than it must, or led by a finding of which the run does not say why, until somebody has looked at it. Throws where the runs are not beside their matrix: they alone tell what
 * was tortured.
 */
export function publishable(folders: readonly string[], of: readonly Cell[]): Measured {
  const known = new Map(of.map((cell, place) => [nameOf(cell), { cell, place }]));
  const cells = new Map<string, MeasuredCell>();
  const servers = new Map<string, string>();
  for (const folder of folders) {
    const { rows } = matrixFile.parse(JSON.parse(readFileSync(join(folder, 'matrix.json'), 'utf8')));
    for (const { cell: name, lock, fault, topology, came, shown, why, runs, strikes, virtualStrikes } of rows) {
      const { reproduce, run } = runs.at(-1) ?? {};
      const isRefused = came === 'refused';
      const cell = known.get(name)?.cell;
      if (!cell || cell.expect !== came || shown !== 'as-expected' || (!isRefused && !reproduce)) continue;
      if (UNEXPLAINED.test(why)) continue;
      cells.set(name, {
        ...{ lock, fault, topology, came, headline: why, reason: cell.reason },
        ...(strikes !== undefined && { strikes }),
        ...(virtualStrikes !== undefined && { virtualStrikes }),
        ...(reproduce !== undefined && { reproduce }),
      });
      if (!isRefused) servers.set(name, serverOf(join(dirname(folder), run ?? '')));
    }
  }
  const day = folders
    .map((folder) => basename(folder).slice(0, 'YYYY-MM-DD'.length))
    .sort()
    .at(-1)!;
  const sorted = [...cells].sort(([a], [b]) => known.get(a)!.place - known.get(b)!.place).map(([, cell]) => cell);
  return { day, servers: [...new Set(servers.values())].sort(), cells: sorted };
}

/** Enough for what a history begins with. */
const BEGINNING_BYTES = 1 << 20;

/** What a run was made on, as the servers told it: "etcd 3.4.23". */
export function serverOf(runFolder: string): string {
  const path = join(runFolder, 'history.jsonl');
  if (!existsSync(path))
    throw new UsageError(`${path} is not there: the runs of a matrix tell what was tortured, leave them beside it`);
  const buffer = Buffer.alloc(BEGINNING_BYTES);
  const file = openSync(path, 'r');
  const length = readSync(file, buffer);
  closeSync(file);
  const lines = buffer.toString('utf8', 0, length).split('\n');
  const deployment = lines.find((line) => line.includes('"type":"deployment"'));
  if (deployment === undefined) throw new UsageError(`${path} does not say what was deployed`);
  const { topology, serverVersion } = JSON.parse(deployment) as { topology: string; serverVersion: string };
  return `${services[topologies[topology]!.service].title} ${serverVersion}`;
}
