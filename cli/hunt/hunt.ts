/**
 * The search: schedule after schedule, each from its own seed, until the time is over. What is found is shrunk, played again, kept,
 * and told once; then it goes on.
 */

import fc from 'fast-check';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import { createRandom } from '../../harness/runtimes/random.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { mayBeLeftOut, type PlanTopology, searchArbitrary, searchedAs } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';
import type { WorkShard } from '../common/values.js';
import { SEEDS } from '../run/flags.js';
import { Corpus } from './corpus.js';
import type { KeptOrder } from './exhaustive/course.js';
import type { HuntSchedule } from './hunt-schedule.js';
import { type Discovery, fingerprintOf, type ScheduleResult } from './schedule.js';
import { type Shrinkable, type Shrunk, shrinkSchedule } from './shrink.js';
import { EndlessScheduleError, type WorldProcess } from './world-process.js';

/**
 * Schedules that are played before anything is made of what they found: then it does not matter who played which, nor in which
 * order they were over.
 */
const GENERATION = 16;

export interface HuntOptions {
  /** Each plays one schedule at a time. */
  worlds: readonly WorldProcess[];
  seed: number;
  /** Of a schedule, but for its seed. */
  config: Omit<RunConfig, 'seed'>;
  topology: PlanTopology;
  /** Names of faults. */
  faults: readonly string[];
  /** Every fault begins before this, counted from the begin of the torture phase. */
  endMs: number;
  /** Of all schedules of the seed, those that this hunt plays: every `of`th, from the `index`th on. */
  shard: WorkShard;
  /** How many schedules of the seed there are, those of other shards included; absent: no end. */
  runs?: number;
  /** Whether there is to be another generation. */
  goesOn(): boolean;
  /** Whether the user wants it to end: no schedule is begun, and nothing is shrunk any further. */
  isStopped(): boolean;
  /** Of every schedule that ended, before anything is done about what it found, in order. */
  onSchedule(schedule: HuntSchedule, result: ScheduleResult): void;
  /** Of everything that is new; it must be kept when this resolves. */
  onFinding(finding: NewFinding): Promise<void>;
  onEndless(schedule: number, why: string): void;
}

export interface NewFinding {
  found: Discovery;
  fingerprint: string;
  /** The how many-th schedule of the seed it was, from 1 on. */
  schedule: number;
  /** How many faults the schedule had. */
  faults: number;
  shrunk: Shrunk;
  /** Of what an exhaustive search found, which shrinks nothing: what was done, step by step. */
  order?: KeptOrder;
}

export interface HuntTotals {
  schedules: number;
  /** Of the schedules, those that did not end. */
  endless: number;
  /** Plays that did not end while something was shrunk. */
  endlessShrinking: number;
  /** Schedules whose verdict is that nothing can be told, though nothing was found. */
  untold: number;
  virtualMs: number;
  holds: number;
  strikes: number;
  struckHolds: number;
  /** What every lock breaks by here: found once, and left out from then on. */
  leftOut: string[];
}

export async function hunt(options: HuntOptions): Promise<HuntTotals> {
  const { worlds, config, topology, goesOn, isStopped } = options;
  const known = new Set<string>();
  const leftOut = new Set<string>();
  const corpus = new Corpus();
  const totals: HuntTotals = {
    schedules: 0,
    endless: 0,
    endlessShrinking: 0,
    untold: 0,
    virtualMs: 0,
    holds: 0,
    strikes: 0,
    struckHolds: 0,
    leftOut: [],
  };
  for (let generation = 0; goesOn(); generation++) {
    const schedules = generationOf(generation, options, leftOut, corpus);
    if (schedules.length === 0) break;
    const results = await playAll(worlds, schedules, config, isStopped);
    for (const [n, schedule] of schedules.entries()) {
      const { number, steps } = schedule;
      const result = results[n];
      if (result === undefined) continue;
      totals.schedules++;
      if (result instanceof EndlessScheduleError) {
        totals.endless++;
        options.onEndless(number, result.message);
        continue;
      }
      add(totals, result);
      corpus.learn(schedule, result.shown);
      options.onSchedule(schedule, result);
      for (const found of freshIn(result, known)) {
        const fingerprint = fingerprintOf(found);
        known.add(fingerprint);
        const onEndless = () => totals.endlessShrinking++;
        const shrunk = await shrinkFinding(worlds[0]!, schedule, config, fingerprint, { onEndless, isStopped });
        await options.onFinding({ found, fingerprint, schedule: number, faults: steps.length, shrunk });
        // Of several faults it is not known which of them breaks every lock by itself.
        const [step, ...others] = shrunk.steps;
        const isAlone = step !== undefined && others.length === 0;
        if (isAlone && mayBeLeftOut(step) && (found.blame === 'deployment' || found.blame === 'lease'))
          leftOut.add(searchedAs(step, topology));
      }
    }
  }
  return { ...totals, leftOut: [...leftOut] };
}

/** The fewest faults and the least else of a schedule that still find what it found. `onEndless`: one of the plays did not end. */
export function shrinkFinding(
  world: WorldProcess,
  schedule: HuntSchedule,
  config: Omit<RunConfig, 'seed'>,
  fingerprint: string,
  { onEndless, isStopped }: { onEndless(): void; isStopped(): boolean },
): Promise<Shrunk> {
  const { clients, keys, timeLimitMs } = config;
  const finds = async (tried: Shrinkable) => {
    const again = await playInWorld(
      world,
      { ...schedule, seed: tried.seed, steps: tried.steps },
      { ...config, ...lessOf(config, tried) },
    ).catch((error) => {
      // Not every workload can do with fewer clients: what cannot be played does not find it.
      if (error instanceof UsageError) return undefined;
      throw error;
    });
    if (!(again instanceof EndlessScheduleError))
      return again?.found.some((one) => fingerprintOf(one) === fingerprint) === true;
    onEndless();
    return false;
  };
  const { seed, steps } = schedule;
  return shrinkSchedule({ seed, steps, clients, keys: keys.length, timeLimitMs }, finds, isStopped);
}

/** What is less of a config. */
export function lessOf(
  config: Pick<RunConfig, 'keys'>,
  { clients, keys, timeLimitMs, turns }: Shrinkable,
): Pick<RunConfig, 'clients' | 'keys' | 'timeLimitMs' | 'turns'> {
  return { clients, keys: config.keys.slice(0, keys), timeLimitMs, ...(turns && { turns }) };
}

/** What else decides what is drawn. `unaimed`: as in `SearchOptions`. */
interface Drawing {
  config: Pick<RunConfig, 'leaseMs'>;
  unaimed?: true | undefined;
}

/**
 * The schedules of one generation that this hunt plays; none where there are no more. `corpus`: what was learned from the generations
 * before, of which about half of them are made; absent: all are drawn.
 */
export function generationOf(
  generation: number,
  {
    seed,
    shard,
    runs = Number.POSITIVE_INFINITY,
    faults,
    topology,
    endMs,
    config,
    unaimed,
  }: Pick<HuntOptions, 'seed' | 'shard' | 'runs' | 'faults' | 'topology' | 'endMs'> & Drawing,
  leftOut: ReadonlySet<string>,
  corpus?: Corpus,
): HuntSchedule[] {
  const first = generation * GENERATION;
  const numbers = Array.from({ length: GENERATION }, (_, n) => shard.index + (first + n) * shard.of);
  return numbers
    .filter((number) => number <= runs)
    .map((number) => {
      const drawn = scheduleOf(number, { seed, faults, topology, endMs, config, unaimed }, leftOut);
      const made = corpus?.madeOf(drawn, endMs, createRandom(drawn.seed).fork('made of'));
      return made ? { ...made, steps: made.steps.filter((step) => !leftOut.has(searchedAs(step, topology))) } : drawn;
    });
}

/** The so many-th schedule of a seed. */
export function scheduleOf(
  number: number,
  {
    seed,
    faults,
    topology,
    endMs,
    config,
    unaimed,
  }: Pick<HuntOptions, 'seed' | 'faults' | 'topology' | 'endMs'> & Drawing,
  leftOut: ReadonlySet<string> = new Set(),
): HuntSchedule {
  const own = createRandom(seed)
    .fork(`schedule ${number}`)
    .int(0, SEEDS - 1);
  const options = { faults, topology, leftOut: new Set(leftOut), endMs, leaseMs: config.leaseMs, unaimed };
  const [steps = []] = fc.sample(searchArbitrary(options), { seed: own, numRuns: 1 });
  return { number, seed: own, steps };
}

type PlayResult = ScheduleResult | EndlessScheduleError;

/** Results in the order of the schedules; none of those that were not begun when it was stopped. Whoever is free plays the next. */
export async function playAll(
  worlds: readonly WorldProcess[],
  schedules: readonly HuntSchedule[],
  config: Omit<RunConfig, 'seed'>,
  isStopped: () => boolean = () => false,
): Promise<(PlayResult | undefined)[]> {
  const results: (PlayResult | undefined)[] = [];
  let next = 0;
  const plays = async (world: WorldProcess) => {
    for (let n = next++; n < schedules.length && !isStopped(); n = next++)
      results[n] = await playInWorld(world, schedules[n]!, config);
  };
  await Promise.all(worlds.map(plays));
  return results;
}

/** Resolves with an EndlessScheduleError where it does not end. */
export function playInWorld(
  world: WorldProcess,
  { seed, steps }: HuntSchedule,
  config: Omit<RunConfig, 'seed'>,
): Promise<PlayResult> {
  return world.play({ ...config, seed }, { version: 1, seed, steps }).catch((error) => {
    if (error instanceof EndlessScheduleError) return error;
    throw error;
  });
}

/** In the order of telling: by whom it blames, then by class; each fingerprint once. */
function freshIn({ found }: ScheduleResult, known: ReadonlySet<string>): Discovery[] {
  const fresh = new Map(found.map((one) => [fingerprintOf(one), one]));
  return [...fresh]
    .filter(([fingerprint]) => !known.has(fingerprint))
    .map(([, one]) => one)
    .sort(
      (a, b) =>
        BLAMES.indexOf(a.blame) - BLAMES.indexOf(b.blame) || CLASSES.indexOf(a.class) - CLASSES.indexOf(b.class),
    );
}

function add(totals: HuntTotals, { verdict, virtualMs, holds, strikes, struckHolds }: ScheduleResult): void {
  totals.virtualMs += virtualMs;
  totals.holds += holds;
  totals.strikes += strikes;
  totals.struckHolds += struckHolds;
  if (verdict === 'unknown') totals.untold++;
}
