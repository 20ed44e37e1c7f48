/** From a run's folder to its verdict and reports: what `run` does at the end, `check` and `report` at any time. */
import { join } from 'node:path';
import { holdsOf } from '../../checkers/holds.js';
import { judge } from '../../checkers/index.js';
import { closingSummary, jsonSummary, reports } from '../../reports/index.js';
import type { ReportInput } from '../../reports/input.js';
import { workloads } from '../../workloads/index.js';
import type { History, Results } from '../api.js';
import { readHistory, readObservations } from '../history.js';
import { readConfig, readPlan, writeJson, writeWhole } from '../store.js';
import { surroundings, wantsColour } from './live/terminal.js';

export interface Shown {
  json: boolean;
  /** Absent: as standard output can take it. */
  colour?: boolean;
}

/** Judges the history in `folder`, writes results and reports, prints the summary; resolves with the exit status. */
export async function judgeFolder(folder: string, options: Shown): Promise<number> {
  const judged = await judgeRun(folder);
  showVerdict(folder, judged, options);
  return judged.results.exitStatus;
}

export type JudgedRun = ReportInput & { results: Results };

/** Judges the history in `folder` and writes results and reports. */
export async function judgeRun(folder: string): Promise<JudgedRun> {
  const input = await readRun(folder);
  writeJson(folder, 'results.json', input.results);
  for (const [name, make] of Object.entries(reports)) writeWhole(join(folder, name), make(input));
  return input;
}

/** Prints the closing summary of a judged run. */
export function showVerdict(folder: string, { results, config }: JudgedRun, options: Shown): void {
  const report = join(folder, 'report.html');
  const text = options.json
    ? JSON.stringify(jsonSummary(results, report))
    : closingSummary({
        results,
        failOn: config.failOn,
        reportPath: report,
        colour: options.colour ?? wantsColour(surroundings()),
      });
  process.stdout.write(`${text}\n`);
}

/** Everything that a report shows, from the files of a run. */
export async function readRun(folder: string): Promise<JudgedRun> {
  const config = readConfig(folder);
  const plan = readPlan(folder);
  const history = await readHistory(join(folder, 'history.jsonl'));
  const observations = await readObservations(join(folder, 'observations.jsonl'));
  const checkers = workloads[config.workload]?.checkers ?? [];
  const results = judge({ history, observations, config, plan }, checkers);
  const deployment = deploymentOf(history);
  return {
    config,
    plan,
    history,
    observations,
    results,
    holds: holdsOf(history),
    settings: deployment?.settings ?? [],
    serverVersion: deployment?.serverVersion ?? 'unknown',
  };
}

function deploymentOf(history: History) {
  for (const event of history.events) if (event.type === 'deployment') return event;
  return undefined;
}
