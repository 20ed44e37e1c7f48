/**
 * One case of the history benchmark, in a process of its own so that its peak memory means something:
 * `history-case.js <folder of a run> read|check` prints the JSON of a `Measured`.
 */
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { judgeRun } from '../cli/judge/judge.js';
import { readHistory } from '../harness/record/history.js';

/** Only reads the history; or does all that `check` does, reports included. */
export type What = 'read' | 'check';

export interface MeasuredReading {
  ms: number;
  /** Of the processor, in all threads: what a busy machine does not change. */
  cpuMs: number;
  maxRssBytes: number;
  violations: number;
}

const [folder, what] = process.argv.slice(2) as [string, What];
const beganMs = performance.now();
const violations = await run();
const ms = performance.now() - beganMs;
const { user, system } = process.cpuUsage();
const cpuMs = (user + system) / 1e3;
const measured: MeasuredReading = { ms, cpuMs, maxRssBytes: process.resourceUsage().maxRSS * 1_024, violations };
process.stdout.write(`${JSON.stringify(measured)}\n`);

async function run(): Promise<number> {
  if (what === 'check') return (await judgeRun(folder)).results.violations.length;
  await readHistory(join(folder, 'history.jsonl'));
  return 0;
}
