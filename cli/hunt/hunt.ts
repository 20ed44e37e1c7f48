/**
 * The search: schedule after schedule, each from its own seed, until the time is over. What is found is shrunk, played again, kept,
 * and told once; then it goes on.
 */
import fc from 'fast-check';
import { createRandom } from '../../harness/runtimes/random.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { type PlanTopology, searchArbitrary } from '../../nemesis/index.js';
import { type Discovery, fingerprintOf, type ScheduleResult } from './schedule.js';
import { type Shrunk, shrinkSteps } from './shrink.js';
import { EndlessScheduleError, type WorldProcess } from './world-process.js';

export interface HuntOptions {
  world: WorldProcess;
  seed: number;
  /** Of a schedule, but for its seed. */
  config: Omit<RunConfig, 'seed'>;
  topology: PlanTopology;
  /** Names of faults. */
  faults: readonly string[];
  /** Every fault begins before this, counted from the begin of the torture phase. */
  endMs: number;
  /** Whether there is to be a next schedule, when so many were played. */
  goesOn(schedules: number): boolean;
  /** Of every schedule that ended, before anything is done about what it found. */
  onSchedule(schedule: number, seed: number, result: ScheduleResult): void;
  /** Of everything that is new; it must be kept when this resolves. */
  onFinding(finding: NewFinding): Promise<void>;
  onEndless(schedule: number, why: string): void;
}

export interface NewFinding {
  found: Discovery;
  fingerprint: string;
  /** The how many-th schedule it was, from 1 on. */
  schedule: number;
  /** Of the schedule. */
  seed: number;
  /** How many faults the schedule had. */
  faults: number;
  shrunk: Shrunk;
}

export interface HuntTotals {
  schedules: number;
  endless: number;
  /** Schedules whose verdict is that nothing can be told, though nothing was found. */
  untold: number;
  virtualMs: number;
  holds: number;
  struckHolds: number;
  /** What every lock breaks by here: found once, and left out from then on. */
  leftOut: string[];
}

const SEEDS = 2 ** 31;

export async function hunt(options: HuntOptions): Promise<HuntTotals> {
  const { world, config, topology, goesOn } = options;
  const random = createRandom(options.seed);
  const known = new Set<string>();
  const leftOut = new Set<string>();
  const totals: HuntTotals = {
    schedules: 0,
    endless: 0,
    untold: 0,
    virtualMs: 0,
    holds: 0,
    struckHolds: 0,
    leftOut: [],
  };
  while (goesOn(totals.schedules)) {
    const schedule = ++totals.schedules;
    const seed = random.fork(`schedule ${schedule}`).int(0, SEEDS - 1);
    const { faults, endMs } = options;
    const arbitrary = searchArbitrary({ faults, topology, leftOut: new Set(leftOut), endMs, leaseMs: config.leaseMs });
    const [steps = []] = fc.sample(arbitrary, { seed, numRuns: 1 });
    const play = (tried: PlanStep[]) =>
      world.play({ ...config, seed }, { version: 1, seed, steps: tried }).catch((error) => {
        if (!(error instanceof EndlessScheduleError)) throw error;
        totals.endless++;
        options.onEndless(schedule, error.message);
        return undefined;
      });
    const result = await play(steps);
    if (!result) continue;
    add(totals, result);
    options.onSchedule(schedule, seed, result);
    for (const found of freshIn(result, known)) {
      const fingerprint = fingerprintOf(found);
      known.add(fingerprint);
      const shrunk = await shrinkSteps(steps, async (tried) => {
        const again = await play(tried);
        return again?.found.some((one) => fingerprintOf(one) === fingerprint) === true;
      });
      await options.onFinding({ found, fingerprint, schedule, seed, faults: steps.length, shrunk });
      // Of several faults it is not known which of them breaks every lock by itself.
      const [step, ...others] = shrunk.steps;
      if (step && others.length === 0 && (found.blame === 'deployment' || found.blame === 'lease'))
        leftOut.add(`${step.fault}:${kindOf(step, topology)}`);
    }
  }
  return { ...totals, leftOut: [...leftOut] };
}

/** The lock's own mistakes first, each fingerprint once. */
function freshIn({ found }: ScheduleResult, known: ReadonlySet<string>): Discovery[] {
  const fresh = new Map(found.map((one) => [fingerprintOf(one), one]));
  return [...fresh]
    .filter(([fingerprint]) => !known.has(fingerprint))
    .map(([, one]) => one)
    .sort((a, b) => Number(b.blame === 'lock') - Number(a.blame === 'lock'));
}

function add(totals: HuntTotals, { verdict, virtualMs, holds, struckHolds }: ScheduleResult): void {
  totals.virtualMs += virtualMs;
  totals.holds += holds;
  totals.struckHolds += struckHolds;
  if (verdict === 'unknown') totals.untold++;
}

function kindOf({ target }: PlanStep, { clients }: PlanTopology): 'client' | 'node' {
  return typeof target !== 'string' && target.names.every((name) => clients.includes(name)) ? 'client' : 'node';
}
