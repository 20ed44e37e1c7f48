/** `check` and `report`: both start from a run's folder on disk. */
import { join } from 'node:path';
import { reports } from '../../reports/index.js';
import { findRun, writeWhole } from '../store.js';
import { judgeFolder, readRun } from './judge.js';

export interface Where {
  cwd: string;
  /** Where run folders are, for ids and `latest`. */
  base: string;
}

/** Judges a run again; resolves with the exit status of its verdict. */
export async function checkCommand(run: string, options: Where & { json: boolean }): Promise<number> {
  return judgeFolder(findRun(run, options.base, options.cwd), options);
}

/** Writes a run's reports again; resolves with 0 whatever the verdict. */
export async function reportCommand(run: string, where: Where): Promise<number> {
  const folder = findRun(run, where.base, where.cwd);
  const input = await readRun(folder);
  for (const [name, make] of Object.entries(reports)) {
    writeWhole(join(folder, name), make(input));
    process.stdout.write(`${join(folder, name)}\n`);
  }
  return 0;
}
