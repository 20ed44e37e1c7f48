/** From a run's folder to its verdict and reports: what `run` does at the end, `check` and `report` at any time. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../../checkers/index.js';
import { namedByCallers } from '../../harness/record/facts/caller-commands.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import { readHistory } from '../../harness/record/history.js';
import { namedByKeys } from '../../harness/record/key-names.js';
import { readMessages } from '../../harness/record/messages.js';
import { readObservations } from '../../harness/record/observations.js';
import { readConfig, readPlan, readPlayTrouble } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { closingSummary, jsonSummary } from '../../reports/index.js';
import type { ReportInput } from '../../reports/input.js';
import { breakingAt } from '../../reports/wrap.js';
import { UsageError } from '../common/errors.js';
import { lockLogOfRun } from '../common/lock-log.js';
import { collectGarbage } from '../common/memory.js';
import { surroundings, wantsColour } from '../live/terminal.js';
import { commandsOfRun, docsFrom } from './commands-of-run.js';
import { judgesOfRun, workloadOf } from './workload-of.js';
import { writeAll } from './write-reports.js';

export interface PrintOptions {
  json: boolean;
}

export type JudgedRun = ReportInput & { results: Results };

/**
 * Judges the history in `folder` and writes results and reports; says on standard error what could not be written, and calls
 * `beforeSaying` before that. `onWriting` is called once it is judged.
 */
export async function judgeRun(
  folder: string,
  beforeSaying: () => void = () => {},
  onWriting: () => void = () => {},
): Promise<JudgedRun> {
  const input = await readRun(folder);
  tidierFor(folder)();
  onWriting();
  const unwritten = writeAll(folder, input);
  if (unwritten.size > 0) {
    const [why] = unwritten.values();
    beforeSaying();
    process.stderr.write(`lock-torture: could not write ${[...unwritten.keys()].join(', ')}: ${why}\n`);
  }
  return input;
}

/** Prints the closing summary of a judged run, after what its lock printed. */
export function showVerdict(
  folder: string,
  { results, config }: Pick<JudgedRun, 'results' | 'config'>,
  options: PrintOptions,
): void {
  const file = join(folder, 'report.html');
  const report = existsSync(file) ? file : undefined;
  const text = options.json
    ? JSON.stringify(jsonSummary(results, folder, report))
    : closingSummary({
        results,
        failOn: config.failOn,
        ...(report && { reportPath: report }),
        colour: wantsColour(surroundings()),
        ...breakingAt(process.stdout),
      });
  // Before the verdict, which is to stay the last that is seen.
  const printed = options.json ? [] : lockLogOfRun(folder);
  process.stdout.write(`${[...printed, ...(printed.length > 0 ? [''] : []), text].join('\n')}\n`);
}

/** Everything that a report shows, from the files of a run. */
export async function readRun(folder: string): Promise<JudgedRun> {
  const tidy = tidierFor(folder);
  const { input, judges } = await readInput(folder, tidy);
  const { config, plan, history, observations } = input;
  const results = judge(input, judges, tidy);
  const deployment = history.rare.find((event) => event.type === 'deployment');
  const messages = readMessages(folder);
  const docs = docsFrom(realpathSync(folder), config);
  return {
    config,
    plan,
    history,
    observations,
    results,
    holds: holdsOf(history),
    settings: deployment?.settings ?? [],
    serverVersion: deployment?.serverVersion ?? 'unknown',
    again: commandsOfRun(realpathSync(folder), config),
    ...(docs !== undefined && { docs }),
    ...(messages && { messages }),
  };
}

/** What the checkers get, from the files of a run, which may still be going on; and which checkers judge it. */
export async function readInput(
  folder: string,
  tidy: () => void = () => {},
): Promise<{ input: CheckInput; judges: readonly Checker[] }> {
  const config = readConfig(folder);
  const plan = readPlan(folder);
  tidy(); // what the run itself has left, where this is its process
  const history = await readHistory(recordedIn(folder), config.topologyOptions.nodes);
  tidy();
  const recorded = await readObservations(join(folder, 'observations.jsonl'));
  const observations = namedByCallers(namedByKeys(recorded, history, config.keys), history);
  const model = modelOfRun(history, config.scenario === undefined ? workloadOf(config)?.model : undefined);
  const playTrouble = config.scenario === undefined ? undefined : readPlayTrouble(folder);
  const outlook = topologies[config.topology]?.outlook?.({
    persistence: config.topologyOptions.persistence,
    bySession: leaseKindOf(history) === 'session',
  });
  return { input: { history, observations, config, plan, model, outlook, playTrouble }, judges: judgesOfRun(config) };
}

/** Throws where there is none: a run that was killed while its deployment was being prepared has left only its plan. */
export function recordedIn(folder: string): string {
  const recorded = join(folder, 'history.jsonl');
  if (!existsSync(recorded)) throw new UsageError(`nothing was recorded in ${folder}: the run ended before it began`);
  return recorded;
}

/**
 * What the lock said of itself is more exact than what the workload takes it for, where both are of one kind. `asked`: absent of a
 * play, which takes every lock for a mutex, but one that has readers and writers.
 */
export function modelOfRun(history: Pick<History, 'rare'>, asked: LockModel | undefined): LockModel {
  const said = history.rare.find((event) => event.type === 'client-up')?.model;
  const expected = asked ?? (said?.kind === 'read-write' ? said : { kind: 'mutex' });
  return said?.kind === expected.kind ? said : expected;
}

const LONG_FROM_BYTES = 50e6;

/** For between the steps of judging a run: does something only where the run is long. */
function tidierFor(folder: string): () => void {
  const { size } = statSync(recordedIn(folder));
  return size > LONG_FROM_BYTES ? collectGarbage : () => {};
}
