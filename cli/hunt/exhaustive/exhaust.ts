/**
 * Exhaustion: every course of events within a bound, each once. First some courses by chance, which tell how many there are; then all
 * of them, those with fewer faults first, by whichever world is free.
 */
import { createRandom } from '../../../harness/runtimes/random.js';
import type { RunConfig } from '../../../harness/vocabulary/run.js';
import type { Random } from '../../../harness/vocabulary/time.js';
import type { Budget } from '../budget.js';
import type { NewFinding } from '../hunt.js';
import { isSameMistake, type ShownFinding } from '../one-mistake.js';
import { byTelling, type Discovery, fingerprintOf, type ScheduleResult } from '../schedule.js';
import { EndlessScheduleError, type WorldProcess } from '../world-process.js';
import { areDependent, type OrderAction } from './actions.js';
import type { OrderBound } from './bound.js';
import { dependencyOf, type OrderPlayed, type OrderRequest } from './course.js';
import { type Branch, branchesOf, ordersOf, ROOT, TreeEstimate } from './explore.js';

/** Descents by chance: no more than so many, and no more than that part of what there seems to be. */
const MOST_DESCENTS = 64;
const DESCENTS_OF_ALL = 1 / 4;
/** Of the time that there is, as a part of 1: what the estimate may take. */
const ESTIMATE = 1 / 10;

export interface ExhaustOptions {
  worlds: readonly WorldProcess[];
  config: RunConfig;
  bound: OrderBound;
  /** False: orders of what is independent are played, too, to see that this tells nothing new. */
  isReduced: boolean;
  budget: Budget;
  isStopped(): boolean;
  /** About how many courses there are. */
  onEstimate(courses: number): void;
  /** Of every course that was played to its end and is not one of the estimate's. */
  onCourse(played: OrderPlayed, result: ScheduleResult): void;
  /** Of every mistake that is new. `world`: the one that showed it, which is free until this resolves. */
  onFinding(finding: FoundInCourse, played: OrderPlayed, world: WorldProcess): Promise<void>;
  /** Of what is the same mistake as one that `onFinding` had of before (its fingerprint). */
  onSame(found: Discovery, as: string): void;
  /** Now and then. */
  onProgress(totals: ExhaustTotals): void;
}

/** `schedule`: how many had been played to their ends, the estimate's among them. `same`: what else it shows of the same mistake. */
export type FoundInCourse = Pick<NewFinding, 'found' | 'fingerprint' | 'schedule' | 'same'>;

export interface ExhaustTotals {
  /** Played to their ends, beside the estimate's. */
  courses: number;
  /** The estimate's that were played to their ends; the search plays them again, each in its turn. */
  descents: number;
  /** Begun, and left where another course had the rest. */
  cut: number;
  /** Branches that were not played yet. */
  left: number;
  endless: number;
  /** Courses of which it cannot be told whether anything was wrong, and why of the first. */
  undecided: number;
  why?: string;
  estimate: number;
  /** Courses that differ from one that was played only in the order of what is independent. */
  saved: number;
  isExhausted: boolean;
  holds: number;
  virtualMs: number;
}

type Task = Branch<OrderAction> & { faults: number };

export async function exhaust(options: ExhaustOptions): Promise<ExhaustTotals> {
  const { worlds, bound, budget, isStopped, isReduced } = options;
  const goesOn = () => !isStopped() && !budget.isSpent();
  const known = new Set<string>();
  const told: ShownFinding[] = [];
  const totals: ExhaustTotals = {
    courses: 0,
    descents: 0,
    cut: 0,
    left: 1,
    endless: 0,
    undecided: 0,
    estimate: 0,
    saved: 0,
    isExhausted: false,
    holds: 0,
    virtualMs: 0,
  };
  /** One world keeps what is found while others go on; what it keeps comes one after the other. */
  let keeping = Promise.resolve();
  const takes = async ({ found: shows, order }: ScheduleResult, world: WorldProcess) => {
    const schedule = totals.courses + totals.descents;
    const fresh: FoundInCourse[] = [];
    for (const found of shows.toSorted(byTelling)) {
      const fingerprint = fingerprintOf(found);
      if (known.has(fingerprint)) continue;
      known.add(fingerprint);
      const shown = { found, fingerprint, schedule, shows, isMinimal: false };
      const as = told.find((other) => isSameMistake(shown, other));
      const beside = as && fresh.find((one) => one.fingerprint === as.fingerprint);
      if (beside) beside.same.push(found);
      else if (as) keeping = keeping.then(() => options.onSame(found, as.fingerprint));
      else {
        told.push(shown);
        fresh.push({ found, fingerprint, schedule, same: [] });
      }
    }
    for (const one of fresh) keeping = keeping.then(() => options.onFinding(one, order!, world));
    await keeping;
  };
  const play = (world: WorldProcess, request: OrderRequest) => playCourse(world, options.config, request);

  const forEstimate = budget.part(ESTIMATE);
  const isEstimated = () => isStopped() || forEstimate.isSpent();
  const onDescent = async (result: ScheduleResult, world: WorldProcess) => {
    totals.descents++;
    await takes(result, world);
  };
  totals.estimate = await estimated(worlds, { bound, isReduced }, play, onDescent, isEstimated);
  options.onEstimate(totals.estimate);

  // Those with fewer faults first; of these any, since neighbours show the same things, and a mistake should be found early.
  const random = createRandom(0);
  const tasks: Task[][] = [[{ ...ROOT, faults: 0 }]];
  let playing = 0;
  const wake: (() => void)[] = [];
  const next = () =>
    anyOf(
      tasks.find((some) => some.length > 0),
      random,
    );
  const works = async (world: WorldProcess) => {
    for (;;) {
      const task = goesOn() ? next() : undefined;
      if (!task) {
        if (playing === 0 || !goesOn()) break;
        await new Promise<void>((resolve) => wake.push(resolve));
        continue;
      }
      playing++;
      try {
        const request: OrderRequest = { ...task, bound, isReduced };
        const result = await play(world, request);
        if (!result) totals.endless++;
        else {
          const { order } = result;
          for (const branch of branchesOf(task, order!.possible, dependencyOf(request))) {
            const faults = task.faults + faultsSince(task, branch, order!);
            tasks[faults]!.push({ ...branch, faults });
          }
          if (order!.isCut) totals.cut++;
          else {
            totals.courses++;
            if (isReduced) totals.saved += ordersOf(order!.course, areDependent) - 1;
            totals.holds += result.holds;
            if (result.verdict === 'unknown') {
              totals.undecided++;
              totals.why ??= result.reasons[0] ?? result.found[0]?.sentence;
            }
            totals.virtualMs += result.virtualMs;
            options.onCourse(order!, result);
            await takes(result, world);
          }
        }
      } finally {
        playing--;
        totals.left = tasks.reduce((sum, some) => sum + some.length, playing);
        for (const one of wake.splice(0)) one();
      }
      options.onProgress(totals);
    }
  };
  for (let faults = 0; faults <= bound.faults; faults++) tasks[faults] ??= [];
  await Promise.all(worlds.map(works));
  await keeping;
  totals.isExhausted = totals.left === 0 && totals.endless === 0;
  return totals;
}

function anyOf(tasks: Task[] | undefined, random: Random): Task | undefined {
  if (!tasks) return undefined;
  const n = random.int(0, tasks.length - 1);
  const last = tasks.pop()!;
  if (n === tasks.length) return last;
  const chosen = tasks[n]!;
  tasks[n] = last;
  return chosen;
}

/** How many of a branch's choices after the one that it left are faults. */
function faultsSince({ prefix: before }: Task, { prefix }: Branch<OrderAction>, { possible }: OrderPlayed): number {
  const chosen = prefix.slice(before.length).map((id, n) => possible[n]!.find((one) => one.id === id));
  return chosen.filter((one) => one?.fault !== undefined).length;
}

async function estimated(
  worlds: readonly WorldProcess[],
  what: Pick<OrderRequest, 'bound' | 'isReduced'>,
  play: (world: WorldProcess, request: OrderRequest) => Promise<ScheduleResult | undefined>,
  onDescent: (result: ScheduleResult, world: WorldProcess) => Promise<void>,
  isOver: () => boolean,
): Promise<number> {
  const tree = new TreeEstimate();
  let begun = 0;
  const descends = async (world: WorldProcess) => {
    while (begun < MOST_DESCENTS && (tree.size === 0 || begun < DESCENTS_OF_ALL * tree.size)) {
      if (isOver()) return;
      const result = await play(world, { ...ROOT, ...what, descent: begun++ });
      if (!result) continue;
      tree.add(result.order!.choices);
      if (!result.order!.isCut) await onDescent(result, world);
    }
  };
  await Promise.all(worlds.map(descends));
  return tree.size;
}

async function playCourse(
  world: WorldProcess,
  config: RunConfig,
  order: OrderRequest,
): Promise<ScheduleResult | undefined> {
  try {
    return await world.play(config, { version: 1, seed: config.seed, steps: [] }, { order });
  } catch (error) {
    if (error instanceof EndlessScheduleError) return undefined;
    throw error;
  }
}
