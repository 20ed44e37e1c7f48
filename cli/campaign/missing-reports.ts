/** Reports that a killed process has not written any more: of a run there is the verdict, which counts, and no page to lead to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRun } from '../judge/judge.js';
import { writeReports, writeRunsIndex } from '../judge/write-reports.js';
import { finishedIn } from './campaign-folder.js';

/** Writes them for the finished runs below `base`, and the list of all of them. Only for whom alone is at the campaign. */
export async function writeMissingReports(base: string): Promise<void> {
  const finished = finishedIn(base);
  for (const { folder } of finished)
    if (!existsSync(join(folder, 'report.html'))) writeReports(folder, await readRun(folder));
  if (finished.length > 0) writeRunsIndex(base);
}
