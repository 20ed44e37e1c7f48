/**
 * Many runs, some at once: what a self-test, a matrix and the like are made of. Each run has its
 * own folder and its own namespaces; two that go on at once share nothing but the machine.
 */

import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import type { ServiceName } from '../../harness/vocabulary/topology.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { PlanError } from '../../nemesis/index.js';
import { shownPath } from '../common/reproduce.js';
import { STANDING } from '../common/standing.js';
import { askRunOn } from '../run/ask-run.js';
import { ignoringConfig } from '../run/config-file.js';
import { type DecidedRun, decideRun } from '../run/decide-run.js';
import { parseRunFlags, SEEDS } from '../run/flags.js';
import { looksLikeFile } from '../run/lock-source.js';
import type { Machine } from '../run/machine.js';
import { NotSimulatedError } from '../run/not-simulated.js';
import { createPreparer } from '../run/prepare-run.js';
import { type StopRequests, supervise } from '../run/supervise.js';

export interface BatchOptions {
  /** Where run folders go. */
  base: string;
  /** How many runs at once. */
  jobs: number;
  machine: Machine;
  /** The flags that ask for it: what repeats a run by itself says them. */
  naming: readonly string[];
  /** Whose server the machine brings; absent: Redis'. */
  service?: ServiceName;
  stop: StopRequests;
  /** How runs are made; absent: each in a process of its own. */
  make?: MakeRun;
}

/** Makes one run of what was decided. */
export type MakeRun = (decided: Pick<DecidedRun, 'request' | 'plan'>, options: BatchOptions) => Promise<MadeRun>;

/** `not-begun`: the user asked to stop before it began. */
export type MadeRun = Omit<BatchRun, 'seed' | 'isRefused'> | 'not-begun';

/** How one run of a batch ended. */
export interface BatchRun {
  /** Its folder; absent: none could be made. */
  folder?: string;
  runId?: string;
  seed: number;
  /** What repeats it by itself. */
  reproduce?: string;
  /** Absent: it could not run. */
  results?: Results;
  /** Why it could not. */
  error?: string;
  /** It was not made, for in virtual time this is not there. */
  lacks?: string;
  /** In virtual time: of every message with its time, and so the same where the course of events is. */
  digest?: string;
  /** What was asked for makes no sense there, or cannot be had: `error` says why. */
  isRefused?: true;
}

/** What one run of a batch is to do; `seed` is for one that has none of its own. Throws where it is not possible. */
export type DecideRun<Job> = (job: Job, seed: number) => Pick<DecidedRun, 'request' | 'plan'>;

/**
 * Makes the runs of `jobs`, in order, `options.jobs` at a time; `done` is called as each ends. A job is asked for only when its
 * run can begin, so what the runs before it found may decide what it is. Stops beginning new ones once the user asked to stop.
 */
export async function runBatch<Job>(
  jobs: Iterable<Job>,
  options: BatchOptions,
  decide: DecideRun<Job>,
  done: (job: Job, run: BatchRun) => void | Promise<void>,
): Promise<void> {
  const waiting = jobs[Symbol.iterator]();
  const worker = async () => {
    while (!options.stop.asked) {
      const next = waiting.next();
      if (next.done) return;
      const run = await oneRun((seed) => decide(next.value, seed), options);
      if (run) await done(next.value, run);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
}

/**
 * For runs that are given as flags of `run`; relative files in them are below `cwd`. What repeats one is typed where the user stands:
 * it asks for the machine that the user asked for, and for no config, of which these runs have nothing but what their flags say.
 */
export function decideByFlags(
  { machine, naming }: Pick<BatchOptions, 'machine' | 'naming'>,
  cwd: string,
): DecideRun<{ argv: readonly string[] }> {
  return (job, drawn) => {
    const argv = [...job.argv, ...naming];
    const { flags, given } = parseRunFlags(argv);
    const typed = [...argv.map((argument, n) => fromThere(argument, argv[n - 1], cwd)), ...ignoringConfig(STANDING)];
    return decideRun(askRunOn(machine, flags, { argv: typed, cwd, given }), machine.unavailable, flags.seed ?? drawn);
  };
}

/** A file's path, as it is named from where the user stands. */
function fromThere(argument: string, before: string | undefined, cwd: string): string {
  const isFile = before === '--plan' || (before === '--lock' && looksLikeFile(argument));
  return isFile && cwd !== STANDING ? shownPath(resolve(cwd, argument), STANDING) : argument;
}

/**
 * Undefined: the user asked to stop before it began, or before it had found anything, for what a run does not find that was cut short
 * proves nothing.
 */
async function oneRun(
  decide: (seed: number) => ReturnType<DecideRun<unknown>>,
  options: BatchOptions,
): Promise<BatchRun | undefined> {
  const run: BatchRun = { seed: randomInt(0, SEEDS) };
  try {
    const decided = decide(run.seed);
    run.seed = decided.request.seed;
    const made = await (options.make ?? inOwnProcess(run))(decided, options);
    if (made === 'not-begun' || (options.stop.asked && made.results?.verdict !== 'violated')) return undefined;
    return { ...run, ...made };
  } catch (error) {
    if (error instanceof NotSimulatedError) return { ...run, lacks: error.lacks };
    return { ...run, error: (error as Error).message, ...(error instanceof PlanError && { isRefused: true as const }) };
  }
}

/** `run` is told of its folder as soon as it has one. */
function inOwnProcess(run: BatchRun): MakeRun {
  return async ({ request, plan }, { machine, base, stop }) => {
    const prepared = await createPreparer(machine, base, () => {})(request, plan);
    const { runId, reproduce } = prepared.config;
    Object.assign(run, { folder: prepared.folder, runId, reproduce });
    const ended = await supervise(prepared, { json: false, quiet: true }, stop);
    if (ended === 'not-begun') return ended;
    return ended.results ? { results: ended.results } : { error: 'it could not run' };
  };
}
