/**
 * `npm run bench -- failovers`: whether a failover takes as long in virtual time as on real servers. In each of some runs the primary is
 * killed once, at another moment; how long after that a replica said that it is the primary is told of both, and how far the two
 * distributions lie apart (Kolmogorov and Smirnov's two-sample statistic). Servers are looked at every 0.1 s, in both.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { wholeNumberIn } from '../cli/common/values.js';
import { provideSimulation, type Simulation } from '../cli/run/simulation.js';
import type { Plan } from '../harness/vocabulary/faults.js';
import type { Observation } from '../harness/vocabulary/history.js';
import { benchCommand } from './command.js';
import { promotedMs } from './costs-of-runs.js';
import { print } from './print.js';
import { realRun } from './real-run.js';
import { eventsIn, linesOf } from './runs-for-costs.js';
import { askedFor, inWorlds } from './simulated.js';

const RUN_MS = 5 * 60_000;
/** Until a Cluster's replica has been elected, on a machine that others want, too. */
const LIMIT_MS = 14_000;
const DEAD_MS = 10_000;
/** Servers do some things each 0.1 s and each second: a kill must not meet them at the same point in every run. */
const FIRST_MS = 1_500;
const NEXT_MS = 137;
const WITHIN_MS = 1_000;
/** At which two samples of one distribution lie as far apart by chance once in twenty times (for many; Smirnov 1948). */
const SMIRNOV_5_PERCENT = 1.358;
const CLIENTS = [
  ...['--lock', 'set-nx-px', '--clients', '3', '--keys', '3', '--lease', '1s'],
  '--time-limit',
  `${LIMIT_MS}ms`,
];

interface Flags {
  topology: string;
  real: number;
  simulated: number;
}

/** Prints a line for each topology and runtime, and one that compares them. The exit status is 1 where a run showed no failover. */
export async function benchFailovers(argv: string[]): Promise<void> {
  const command = benchCommand('failovers')
    .option('--topology <list>', 'on which, with commas between them', 'replica,sentinel,cluster')
    .option('--real <n>', 'runs on real servers of each', wholeNumberIn(1, 1_000), 10)
    .option('--simulated <n>', 'schedules in virtual time of each', wholeNumberIn(1, 100_000), 40);
  command.parse(argv, { from: 'user' });
  const { topology: topologies, real, simulated } = command.opts<Flags>();
  const simulation = await provideSimulation(undefined, print);
  for (const topology of topologies.split(',')) {
    const virtual = await inVirtualTime(topology, simulated, simulation);
    print(spread(`${topology}, in virtual time`, virtual, simulated));
    const onServers = await inRealTime(topology, real);
    print(`${spread(`${topology}, on real servers`, onServers, real)} (load ${loadavg()[0]!.toFixed(0)})`);
    if (virtual.length < simulated || onServers.length < real) process.exitCode = 1;
    if (virtual.length > 0 && onServers.length > 0) print(compared(virtual, onServers));
  }
}

function planOf(n: number): Plan {
  const atMs = FIRST_MS + ((n * NEXT_MS) % WITHIN_MS);
  return { version: 1, seed: n, steps: [{ atMs, forMs: DEAD_MS, fault: 'kill', target: 'primary' }] };
}

async function inVirtualTime(topology: string, times: number, simulation: Simulation): Promise<number[]> {
  const asked = askedFor(['--topology', topology, ...CLIENTS]);
  const base = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  try {
    return await inWorlds(asked, { workers: 1, by: 'failovers' }, simulation, async ([world], config) => {
      const took: number[] = [];
      for (let n = 1; n <= times; n++) {
        const folder = join(base, String(n));
        await world!.play({ ...config, seed: n }, planOf(n), { keep: folder });
        took.push(...tookMs(folder));
        rmSync(folder, { recursive: true, force: true });
      }
      return took;
    });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function inRealTime(topology: string, times: number): Promise<number[]> {
  const base = mkdtempSync(join(tmpdir(), 'lock-torture-bench-'));
  const plan = join(base, 'plan.json');
  const took: number[] = [];
  try {
    for (let n = 1; n <= times; n++) {
      writeFileSync(plan, JSON.stringify(planOf(n)));
      const flags = ['--topology', topology, '--plan', plan, '--fail-on', 'none', ...CLIENTS];
      const { trouble } = await realRun(flags, { base, timeoutMs: RUN_MS });
      if (trouble !== undefined) throw new Error(`a run on real servers could not be made: ${trouble}`);
      took.push(...tookMs(join(base, 'latest')));
    }
    return took;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** None where nobody was promoted. */
function tookMs(folder: string): number[] {
  const ms = promotedMs(eventsIn(folder), linesOf<Observation>(join(folder, 'observations.jsonl')));
  return ms === undefined ? [] : [ms];
}

function spread(what: string, took: readonly number[], runs: number): string {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (part: number) => `${((sorted[Math.round(part * (sorted.length - 1))] ?? Number.NaN) / 1e3).toFixed(2)}`;
  const times = ` from ${at(0)} to ${at(1)} s, quartiles ${at(0.25)}, ${at(0.5)}, ${at(0.75)}`;
  return `${what}: ${took.length} of ${runs} promoted a replica${took.length === 0 ? '' : times}`;
}

function compared(a: readonly number[], b: readonly number[]): string {
  const limit = SMIRNOV_5_PERCENT * Math.sqrt((a.length + b.length) / (a.length * b.length));
  const far = distance(a, b);
  const verdict = far > limit ? 'they differ' : 'nothing shows that they differ';
  return `  ${far.toFixed(2)} apart; by chance more than ${limit.toFixed(2)} in one of twenty: ${verdict}\n`;
}

/** How far the two empirical distributions lie apart where they do so most: 0 to 1. Neither is empty. */
export function distance(a: readonly number[], b: readonly number[]): number {
  const share = (of: readonly number[], atMost: number) => of.filter((one) => one <= atMost).length / of.length;
  return Math.max(...[...a, ...b].map((value) => Math.abs(share(a, value) - share(b, value))));
}
