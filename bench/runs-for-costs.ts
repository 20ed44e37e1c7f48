/** The runs by which costs of locks are told: one lock on one deployment, made for one of the costs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argvOfPlace } from '../cli/batches/matrix-cells.js';
import type { CostName, CostRun } from '../cli/docs/costs.js';
import type { Plan } from '../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../harness/vocabulary/history.js';
import { handOverMs, latencyMs, withoutHolderMs } from './costs-of-runs.js';
import { realRun } from './real-run.js';

const RUN_MS = 5 * 60_000;
/** What a lease has to do with it: a lock that a dead server's client could not give back stays for so long. */
const LEASE = ['--lease', '5s'];
/** Ten to twenty milliseconds. */
const BRIEF = ['--hold', '0.002x..0.004x'];
const DIES_AT_MS = 2_000;
/** One that is replaced stays away; a single one is started again. */
const AWAY_MS = { replaced: 4_000, single: 1_000 };

export const MEASURES: Record<
  CostName,
  { argv: readonly string[]; of(events: readonly HistoryEvent[]): number | undefined }
> = {
  latencyMs: {
    argv: ['--clients', '1', '--keys', '1', ...BRIEF, '--nemesis', 'none', '--time-limit', '4s'],
    of: latencyMs,
  },
  handOverMs: {
    argv: ['--clients', '4', '--keys', '1', ...BRIEF, '--wait', '3s', '--nemesis', 'none', '--time-limit', '4s'],
    of: handOverMs,
  },
  withoutHolderMs: {
    argv: ['--clients', '6', '--keys', '12', ...BRIEF, '--wait', '100ms', '--time-limit', '10s'],
    of: withoutHolderMs,
  },
};

/** Makes a run and reads its folder; says why there is nothing to be read of it. */
export async function runFor<Value>(
  name: CostName,
  { lock, topology }: Pick<CostRun, 'lock' | 'topology'>,
  read: (folder: string) => Value | undefined,
): Promise<{ value: Value } | { missing: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  try {
    const plan = name === 'withoutHolderMs' ? ['--plan', putPlan(folder, topology)] : [];
    const flags = [...argvOfPlace(topology), '--lock', lock, ...LEASE, ...MEASURES[name].argv, ...plan];
    const { trouble } = await realRun([...flags, '--fail-on', 'none'], { base: folder, timeoutMs: RUN_MS });
    if (trouble !== undefined) return { missing: `not tried: ${reasonOf(trouble)}` };
    const value = read(join(folder, 'latest'));
    return value === undefined ? { missing: 'too little happened to tell' } : { value };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The leader dies once, in the midst of it. */
function putPlan(folder: string, topology: string): string {
  const forMs = topology === 'single' ? AWAY_MS.single : AWAY_MS.replaced;
  const plan: Plan = {
    version: 1,
    seed: 1,
    steps: [{ atMs: DIES_AT_MS, forMs, fault: 'kill', target: 'primary' }],
  };
  const path = join(folder, 'plan.json');
  writeFileSync(path, JSON.stringify(plan));
  return path;
}

export function eventsIn(folder: string): HistoryEvent[] {
  return linesOf(join(folder, 'history.jsonl'));
}

export function linesOf<Line>(path: string): Line[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** What is missing, of the line that says as well what to do: it stands in a table. */
function reasonOf(line: string): string {
  return line.replace(/^lock-torture: /, '').replace(/[,:;].*$/, '');
}
