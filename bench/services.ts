/**
 * `npm run bench -- services`: what locks on Redis and on other services cost, side by side. A round makes three runs of each lock, one
 * lock after the other, so that what else the machine does weighs on all of them; ratios are formed within a round.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { argvOfPlace } from '../cli/batches/matrix-cells.js';
import { wholeNumberIn } from '../cli/common/values.js';
import {
  COSTS,
  COSTS_FILE,
  type CostName,
  type CostRun,
  type Costs,
  costsSchema,
  costsTable,
  ratios,
} from '../cli/docs/costs.js';
import { runProgram } from '../harness/machine/command.js';
import { PROJECT } from '../harness/machine/project-files.js';
import type { Plan } from '../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../harness/vocabulary/history.js';
import { comparedPlaces } from '../matrix/index.js';
import { handOverMs, latencyMs, withoutHolderMs } from './costs-of-runs.js';
import { print } from './print.js';
import { serverOf } from './publish.js';

interface Flags {
  rounds: number;
  keep?: true;
  locks?: string;
}

const RUN_MS = 5 * 60_000;
/** What a lease has to do with it: a lock that a dead server's client could not give back stays for so long. */
const LEASE = ['--lease', '5s'];
/** Ten to twenty milliseconds. */
const BRIEF = ['--hold', '0.002x..0.004x'];
const DIES_AT_MS = 2_000;
/** One that is replaced stays away; a single one is started again. */
const AWAY_MS = { replaced: 4_000, single: 1_000 };

const MEASURES: Record<CostName, { argv: readonly string[]; of(events: readonly HistoryEvent[]): number | undefined }> =
  {
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

export async function benchServices(argv: string[]): Promise<void> {
  const command = new Command('services')
    .option('--rounds <n>', 'of three runs of each lock', wholeNumberIn(1, 100), 3)
    .option('--locks <names>', 'only these and the first, with commas between them')
    .option('--keep', `write it to ${COSTS_FILE}, for the published table`)
    .exitOverride();
  command.parse(argv, { from: 'user' });
  const { rounds, locks, keep } = command.opts<Flags>();
  const columns = comparedPlaces.filter(({ lock }, n) => n === 0 || (locks?.split(',').includes(lock) ?? true));
  const servers = new Set<string>();
  const all: Costs['rounds'] = [];
  for (let n = 1; n <= rounds; n++) {
    const load = loadavg()[0]!;
    print(`round ${n} of ${rounds}, load ${load.toFixed(1)}`);
    const runs: CostRun[] = [];
    for (const column of columns) runs.push(await costsOf(column, servers));
    all.push({ load, runs });
    for (const run of runs) print(lineOf(run, { rounds: [{ load, runs }] }));
  }
  const measured: Costs = {
    day: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    servers: [...servers].sort(),
    machine: `${availableParallelism()} processors`,
    rounds: all,
  };
  print(`\n${costsTable(measured, ({ lock, topology }) => `${lock} on ${topology}`)}`);
  if (!keep) return;
  writeFileSync(join(PROJECT, COSTS_FILE), `${JSON.stringify(costsSchema.parse(measured), undefined, 2)}\n`);
  print(`kept in ${COSTS_FILE}; now: npm run docs`);
}

/** Makes its runs; what could not be measured is said. */
async function costsOf(column: Pick<CostRun, 'lock' | 'topology'>, servers: Set<string>): Promise<CostRun> {
  const run: CostRun = { ...column, missing: {}, values: {} };
  for (const [name, { argv, of }] of Object.entries(MEASURES) as [CostName, (typeof MEASURES)[CostName]][]) {
    if (name === 'withoutHolderMs' && column.topology === 'redlock') {
      run.missing[name] = 'no node leads';
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
    try {
      const plan = name === 'withoutHolderMs' ? ['--plan', putPlan(folder, column.topology)] : [];
      const { exitCode, stderr } = await runProgram(
        [
          ...[
            process.execPath,
            join(PROJECT, 'bin/torture.mjs'),
            ...argvOfPlace(column.topology),
            '--lock',
            column.lock,
          ],
          ...[...LEASE, ...argv, ...plan, '--fail-on', 'none', '--no-config', '--out', folder],
        ],
        { timeoutMs: RUN_MS },
      );
      if (exitCode === 3) {
        run.missing[name] = `could not run: ${stderr.trim().split('\n').at(-1)}`;
        continue;
      }
      const latest = join(folder, 'latest');
      servers.add(serverOf(latest));
      const value = of(eventsIn(latest));
      if (value === undefined) run.missing[name] = 'too little happened to tell';
      else run.values[name] = value;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return run;
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

function eventsIn(folder: string): HistoryEvent[] {
  const lines = readFileSync(join(folder, 'history.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function lineOf(run: CostRun, round: Pick<Costs, 'rounds'>): string {
  const texts = (Object.keys(COSTS) as CostName[]).map((name) => {
    const value = run.values[name];
    if (value === undefined) return `${name} ${run.missing[name]}`;
    const [ratio] = ratios(round, run, name);
    return `${name} ${value.toFixed(2)}${ratio === undefined ? '' : ` (x${ratio.toFixed(1)})`}`;
  });
  return `  ${`${run.lock} on ${run.topology}`.padEnd(30)} ${texts.join(', ')}`;
}
