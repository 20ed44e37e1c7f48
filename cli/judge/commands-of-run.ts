/** What is typed to see a run again, by where its folder is: its report says so. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { PROJECT } from '../../harness/machine/project-files.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { CommandsOfRun } from '../../reports/input.js';
import { workloads } from '../../workloads/index.js';
import { commandLine, toolOf } from '../common/reproduce.js';
import { RUNS_FOLDER } from '../common/standing.js';

const TIMES = 10;

/**
 * By the run's id where that is enough. The process that judges a run may be in a container, where the tool has another place: it is
 * called as the command calls it that repeats the run.
 */
export function commandsOfRun(folder: string, config: RunConfig): CommandsOfRun {
  const named = dirname(folder) === RUNS_FOLDER ? basename(folder) : folder;
  const command = (...argv: string[]) => commandLine(argv, toolOf(config.reproduce));
  return {
    ...(isReplayed(config) && { replay: command('replay', named, '--times', String(TIMES)) }),
    check: command('check', named),
  };
}

/** The tool's documentation, as a link from the run's folder; undefined where the tool has another place when the report is read. */
export function docsFrom(folder: string, { reproduce }: RunConfig): string | undefined {
  const docs = join(PROJECT, 'docs');
  if (/--runtime[ =]container\b/.test(reproduce) || !existsSync(join(docs, 'causes.md'))) return undefined;
  return relative(folder, docs).split('/').map(encodeURIComponent).join('/');
}

/** A play, and a run in virtual time, are the same each time that they are repeated; and `conform` has a workload of its own. */
function isReplayed({ scenario, runtime, workload }: RunConfig): boolean {
  return scenario === undefined && runtime !== 'sim' && Object.hasOwn(workloads, workload);
}
