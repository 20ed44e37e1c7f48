/** `check`, `report` and `export`: all start from a run's folder on disk. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { showingLife } from '../../harness/machine/signs-of-life.js';
import { readHistory } from '../../harness/record/history.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import { findRun, readConfig, readResults } from '../../harness/record/store.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { UsageError } from '../common/errors.js';
import { tellStepSummary } from '../common/step-summary.js';
import { checkHistory, type ImportFlags, refuseImportFlags, whatToCheck } from './check-import.js';
import { type ExportFormat, exportedEvents, exportedLine } from './export-history.js';
import { judgeRun, type PrintOptions, readRun, recordedIn, showVerdict } from './judge.js';
import { verdictChanged } from './judged-before.js';
import { writeReports } from './write-reports.js';

export interface Where {
  cwd: string;
  /** Where run folders are, for ids and `latest`. */
  base: string;
}

/** Judges a run again, or a history that was recorded elsewhere; resolves with the exit status of its verdict. */
export async function checkCommand(named: string, options: Where & ImportFlags & { json: boolean }): Promise<number> {
  const found = whatToCheck(named, options.base, options.cwd);
  if ('history' in found) return checkHistory(found.history, options);
  refuseImportFlags(options);
  const status = await judgeAgain(found.run, options);
  tellStepSummary(join(found.run, 'summary.md'));
  return status;
}

/** Judges the history in `folder`, writes results and reports, prints the summary; resolves with the exit status. */
async function judgeAgain(folder: string, options: PrintOptions): Promise<number> {
  const before = judgedBefore(folder);
  const judged = await (options.json ? judgeRun(folder) : showingLife((stop) => judgeRun(folder, stop)));
  const changed = before && verdictChanged(before, judged.results, judged.config.failOn);
  // Once: from now on the folder has today's results.
  if (changed !== undefined) process.stderr.write(`lock-torture: ${visible(changed)}\n`);
  showVerdict(folder, judged, options);
  return judged.results.exitStatus;
}

/** Undefined where it has none yet, or none that can be read. */
function judgedBefore(folder: string): Results | undefined {
  try {
    return readResults(folder);
  } catch {
    return undefined;
  }
}

/** Writes a run's reports again; resolves with 0 whatever the verdict. */
export async function reportCommand(run: string, where: Where): Promise<number> {
  const folder = findRun(run, where.base, where.cwd);
  const input = await showingLife(() => readRun(folder));
  for (const path of writeReports(folder, input)) process.stdout.write(`${path}\n`);
  return 0;
}

export interface ExportFlags {
  format: ExportFormat;
  key?: string;
}

/** Prints a run's history for other checkers; resolves with 0, whatever they may say of it. */
export async function exportCommand(run: string, { format, key }: ExportFlags, where: Where): Promise<number> {
  const folder = findRun(run, where.base, where.cwd);
  const history = await readHistory(recordedIn(folder), readConfig(folder).topologyOptions.nodes);
  const { keys } = history.operations;
  if (key !== undefined && !keys.includes(key))
    throw new UsageError(`--key ${key}: the run has no such key; it has ${keys.join(', ')}`);
  const lines = Readable.from(
    (function* () {
      for (const event of exportedEvents(history, key)) yield exportedLine(event, format);
    })(),
  );
  await pipeline(lines, process.stdout, { end: false });
  return 0;
}
