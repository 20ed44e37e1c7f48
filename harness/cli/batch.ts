/**
 * Many runs, some at once, each as its command line says: what a self-test, a matrix and the like are made of. Each run has its
 * own folder and its own namespaces; two that go on at once share nothing but the machine.
 */

import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Results } from '../api.js';
import { parseRunFlags } from './flags.js';
import { createPreparer, type Machine } from './prepare-run.js';
import { decideRun, readRunFlags, SEEDS } from './run-command.js';
import { type StopRequests, supervise } from './supervise.js';

export interface BatchOptions {
  /** Where run folders go. */
  base: string;
  /** Relative files in command lines are looked for here. */
  cwd: string;
  /** How many runs at once. */
  jobs: number;
  machine: Machine;
  stop: StopRequests;
}

/** How one run of a batch ended. */
export interface BatchRun {
  /** Its folder; absent: none could be made. */
  folder?: string;
  runId?: string;
  seed: number;
  /** What repeats it by itself. */
  again?: string;
  /** Absent: it could not run. */
  results?: Results;
  /** Why it could not. */
  error?: string;
}

/**
 * Makes the runs of `jobs`, in order, `options.jobs` at a time; `done` is called as each ends. Stops beginning new ones once
 * the user asked to stop: what was not begun is not in the result.
 */
export async function runBatch<Job extends { argv: readonly string[] }>(
  jobs: readonly Job[],
  options: BatchOptions,
  done: (job: Job, run: BatchRun) => void,
): Promise<Map<Job, BatchRun>> {
  const waiting = [...jobs];
  const runs = new Map<Job, BatchRun>();
  const worker = async () => {
    for (let job = waiting.shift(); job && !options.stop.asked; job = waiting.shift()) {
      const run = await oneRun(job.argv, options);
      if (!run) return;
      runs.set(job, run);
      done(job, run);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  return runs;
}

/** Undefined: the user asked to stop before it began. */
async function oneRun(
  argv: readonly string[],
  { base, cwd, machine, stop }: BatchOptions,
): Promise<BatchRun | undefined> {
  const run: BatchRun = { seed: randomInt(0, SEEDS) };
  try {
    const { flags, given } = parseRunFlags(argv);
    if (flags.seed !== undefined) run.seed = flags.seed;
    const asked = readRunFlags(flags, { argv, cwd, given });
    const { request, plan } = decideRun(asked, machine.unavailable, run.seed);
    const { folder, config } = await createPreparer(machine, base, () => {})(request, plan);
    if (stop.asked) {
      rmSync(folder, { recursive: true, force: true });
      return undefined;
    }
    Object.assign(run, { folder, runId: config.runId, again: config.again });
    const { results } = await supervise(folder, { json: false, quiet: true }, stop);
    return results ? { ...run, results } : { ...run, error: 'it could not run' };
  } catch (error) {
    return { ...run, error: (error as Error).message };
  }
}
