/** Which schedules a hunt plays: drawn from its seed, or made of earlier ones. */
import fc from 'fast-check';
import { createRandom } from '../../harness/runtimes/random.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { HoldTimes } from '../../harness/vocabulary/workload.js';
import { type PlanTopology, searchArbitrary, searchedAs } from '../../nemesis/index.js';
import type { WorkShard } from '../common/values.js';
import { SEEDS } from '../run/flags.js';
import type { Corpus } from './corpus.js';
import type { HuntSchedule } from './hunt-schedule.js';

/**
 * Schedules that are played before anything is made of what they found: then it does not matter who played which, nor in which
 * order they were over.
 */
const GENERATION = 16;
/** Of so many schedules one has no habits: what comes of few events is easier to see. */
const WITHOUT_HABITS = 4;
export interface WhichSchedules {
  seed: number;
  /** Of all schedules of the seed, those that are played: every `of`th, from the `index`th on. */
  shard: WorkShard;
  /** How many schedules of the seed there are, those of other shards included; absent: no end. */
  runs?: number;
  /** Names of faults. */
  faults: readonly string[];
  topology: PlanTopology;
  /** Every fault begins before this, counted from the begin of the torture phase. */
  endMs: number;
  /** How long clients hold in schedules that have a run's habits; absent: none has. */
  habits?: HoldTimes;
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
  { shard, runs = Number.POSITIVE_INFINITY, ...drawing }: WhichSchedules & Drawing,
  leftOut: ReadonlySet<string>,
  corpus?: Corpus,
): HuntSchedule[] {
  const { topology, endMs } = drawing;
  const first = generation * GENERATION;
  const numbers = Array.from({ length: GENERATION }, (_, n) => shard.index + (first + n) * shard.of);
  return numbers
    .filter((number) => number <= runs)
    .map((number) => {
      const drawn = scheduleOf(number, drawing, leftOut);
      const made = corpus?.madeOf(drawn, endMs, createRandom(drawn.seed).fork('made of'));
      return made ? { ...made, steps: made.steps.filter((step) => !leftOut.has(searchedAs(step, topology))) } : drawn;
    });
}

/** The so many-th schedule of a seed. */
export function scheduleOf(
  number: number,
  { seed, faults, topology, endMs, config, unaimed, habits }: Omit<WhichSchedules, 'shard' | 'runs'> & Drawing,
  leftOut: ReadonlySet<string> = new Set(),
): HuntSchedule {
  const own = createRandom(seed)
    .fork(`schedule ${number}`)
    .int(0, SEEDS - 1);
  const hold = number % WITHOUT_HABITS === 1 ? undefined : habits;
  const options = {
    faults,
    topology,
    leftOut: new Set(leftOut),
    endMs,
    leaseMs: config.leaseMs,
    unaimed,
    ...(hold && { usual: true as const }),
  };
  const [steps = []] = fc.sample(searchArbitrary(options), { seed: own, numRuns: 1 });
  return { number, seed: own, steps, ...(hold && { hold }) };
}
