/** `matrix.json`: the cells of a matrix as they are read again, whichever version wrote them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { conform, conformText } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { inVersion2 } from '../../harness/record/version-1.js';
import { UsageError } from '../common/errors.js';
import type { CellRow } from './matrix-cells.js';

/** Files written before rows had kinds call every finding of liveness a deadlock. */
const cellOutcome = z
  .enum(['safe', 'exclusion', 'stale', 'harm', 'liveness', 'refused', 'deadlock'])
  .transform((name) => (name === 'deadlock' ? 'liveness' : name));

export const cellRow = describes<CellRow>()(
  z.object({
    cell: z.string(),
    server: z.string().optional(),
    fault: z.string(),
    lock: z.string(),
    topology: z.string(),
    expect: cellOutcome,
    came: cellOutcome.optional(),
    kinds: z.array(z.string()).optional(),
    strikes: z.number().optional(),
    virtualStrikes: z.number().optional(),
    day: z.string().optional(),
    tortured: z.string().optional(),
    virtualTime: z.literal(true).optional(),
    cost: z
      .object({
        grantsPerSecond: z.number(),
        least: z.number(),
        greatest: z.number(),
        commandsPerGrant: z.number().optional(),
      })
      .optional(),
    shown: z.enum(['as-expected', 'otherwise', 'lacks-power', 'cannot-tell', 'could-not-run', 'not-tried']),
    why: z.string(),
    reason: z.string(),
    runs: z.array(
      z.object({
        run: z.string().optional(),
        seed: z.number(),
        reproduce: z.string().optional(),
        headline: z.string().optional(),
      }),
    ),
  }),
);
const resumable = z.object({ version: z.literal(2), rows: z.array(cellRow) });

/** Cells of another matrix that need not be run again; throws a `UsageError` where the folder has none that can be read. */
export function cellsOfFolder(folder: string): CellRow[] {
  const path = join(folder, 'matrix.json');
  if (!existsSync(path)) throw new UsageError(`${folder} has no matrix.json to resume`);
  const { value, problem } = conformText(readFileSync(path, 'utf8'), (data) => conform(resumable, inVersion2(data)));
  if (problem !== undefined) throw new UsageError(`${path} cannot be read: ${problem}`);
  return value.rows.filter(({ shown }) => shown !== 'could-not-run' && shown !== 'not-tried');
}
