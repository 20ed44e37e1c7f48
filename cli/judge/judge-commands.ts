/** `check` and `report`: both start from a run's folder on disk. */
import { join } from 'node:path';
import { findRun } from '../../harness/record/store.js';
import { tellStepSummary } from '../common/step-summary.js';
import { checkHistory, type ImportFlags, refuseImportFlags, whatToCheck } from './check-import.js';
import { judgeFolder, readRun } from './judge.js';
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
  const status = await judgeFolder(found.run, options);
  tellStepSummary(join(found.run, 'summary.md'));
  return status;
}

/** Writes a run's reports again; resolves with 0 whatever the verdict. */
export async function reportCommand(run: string, where: Where): Promise<number> {
  const folder = findRun(run, where.base, where.cwd);
  const input = await readRun(folder);
  for (const path of writeReports(folder, input)) process.stdout.write(`${path}\n`);
  return 0;
}
