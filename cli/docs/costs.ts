/**
 * What locks cost, as it is published: kept by `npm run bench -- services --keep` in matrix/measured/costs.json, read by
 * docs/which-lock.md. Figures of one machine mean little elsewhere, so what is told is how many times what a lock on one Redis
 * costs; each ratio is of two runs of the same round.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { PROJECT } from '../../harness/machine/project-files.js';
import { plural } from '../../harness/record/facts/words.js';
import { markdownTable } from './measured.js';

/** What is measured: what the table calls it. */
export const COSTS = {
  latencyMs: 'latency of a lock that nobody else wants',
  handOverMs: 'hand-over to one who waits',
  withoutHolderMs: 'nobody is granted after the leader’s death',
} as const;
export type CostName = keyof typeof COSTS;

const costRun = z.object({
  lock: z.string(),
  topology: z.string(),
  /** Of what could not be measured: why. */
  missing: z.partialRecord(z.enum(Object.keys(COSTS) as [CostName, ...CostName[]]), z.string()),
  /** Milliseconds; the medians of one run's. */
  values: z.partialRecord(z.enum(Object.keys(COSTS) as [CostName, ...CostName[]]), z.number()),
});
export type CostRun = z.infer<typeof costRun>;

export const costsSchema = z.object({
  day: z.string(),
  servers: z.array(z.string()),
  /** Processors, and what else. */
  machine: z.string(),
  rounds: z.array(
    z.object({ /** Average of the last minute, as it began. */ load: z.number(), runs: z.array(costRun) }),
  ),
});
export type Costs = z.infer<typeof costsSchema>;

/** Below the project. */
export const COSTS_FILE = 'matrix/measured/costs.json';

/** Undefined: none are published. */
export function costs(): Costs | undefined {
  const path = join(PROJECT, COSTS_FILE);
  return existsSync(path) ? costsSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

/** The ratios to the first of each round's runs, from the least to the greatest; empty: none could be formed. */
export function ratios({ rounds }: Pick<Costs, 'rounds'>, { lock, topology }: CostOf, cost: CostName): number[] {
  return rounds
    .flatMap(({ runs }) => {
      const [reference] = runs;
      const run = runs.find((one) => one.lock === lock && one.topology === topology);
      const [a, b] = [run?.values[cost], reference?.values[cost]];
      return a === undefined || b === undefined || b <= 0 ? [] : [a / b];
    })
    .sort((a, b) => a - b);
}

type CostOf = Pick<CostRun, 'lock' | 'topology'>;

/** `nameOf`: what the page calls a lock. */
export function costsTable(of: Costs | undefined, nameOf: (column: CostOf) => string): string {
  const first = of?.rounds[0]?.runs;
  if (!of || !first) return 'Not measured yet: `npm run bench -- services --keep`.';
  const names = Object.keys(COSTS) as CostName[];
  const [reference] = first as [CostRun];
  const table = markdownTable(
    ['', ...Object.values(COSTS)],
    first.map((column) => [nameOf(column), ...names.map((cost) => costText(of, column, cost, column === reference))]),
  );
  const loads = of.rounds.map(({ load }) => load.toFixed(1)).join(', ');
  return `${table}\n\n${of.day}; ${of.servers.join(', ')}; ${of.machine}, load ${loads} as the ${plural(of.rounds.length, 'round')} began.`;
}

function costText(of: Costs, column: CostOf, cost: CostName, isReference: boolean): string {
  const runs = of.rounds.flatMap((round) =>
    round.runs.filter(({ lock, topology }) => lock === column.lock && topology === column.topology),
  );
  const values = runs.flatMap(({ values: { [cost]: value } }) => (value === undefined ? [] : [value]));
  if (values.length === 0) return runs.flatMap(({ missing }) => missing[cost] ?? [])[0] ?? '–';
  values.sort((a, b) => a - b);
  const median = inTime(middle(values));
  if (isReference) return `${median} (${inTime(values[0]!)} to ${inTime(values.at(-1)!)})`;
  const times = ratios(of, column, cost);
  if (times.length === 0) return median;
  return `×${inTimes(middle(times))} (${inTimes(times[0]!)} to ${inTimes(times.at(-1)!)}); ${median}`;
}

/** The middle of sorted numbers: of two the mean. */
export function middle(sorted: readonly number[]): number {
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1]! + sorted[half]!) / 2 : sorted[Math.floor(half)]!;
}

function inTime(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(2)} s` : `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}

function inTimes(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0);
}
