/**
 * The search: schedule after schedule, each from its own seed. What it finds waits, and is shrunk, played again, kept and told when
 * the schedules are over, or half of the time that was left; with what is left then the search goes on.
 */

import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { HoldTimes } from '../../harness/vocabulary/workload.js';
import { mayBeLeftOut, searchedAs } from '../../nemesis/index.js';
import type { Budget } from './budget.js';
import { Corpus } from './corpus.js';
import type { KeptOrder } from './exhaustive/course.js';
import { firstOf } from './fewest.js';
import { generationOf, type WhichSchedules } from './generation.js';
import type { HuntSchedule } from './hunt-schedule.js';
import { isSameMistake, type ShownFinding } from './one-mistake.js';
import { type PlayResult, playAll } from './play-all.js';
import { byTelling, type Discovery, fingerprintOf, type ScheduleResult } from './schedule.js';
import type { Shrunk } from './shrink.js';
import { finder, shrinkFinding, wholeOf } from './shrink-finding.js';
import { EndlessScheduleError, type WorldProcess } from './world-process.js';

/** Of the time that is left when a search begins, as a part of 1: what it leaves for what it finds. */
const AFTER_THE_SEARCH = 1 / 2;
/** Of the time that one finding has: for shrinking it. The rest is for playing it again. */
const SHRINKING = 3 / 4;

export interface HuntOptions extends WhichSchedules {
  /** Each plays one schedule at a time. */
  worlds: readonly WorldProcess[];
  /** Of a schedule, but for its seed. */
  config: Omit<RunConfig, 'seed'>;
  /** For searching, shrinking and playing again. A play that was begun ends, and one schedule is played in any case. */
  budget: Budget;
  /** Whether the user wants it to end: no schedule is begun, and nothing is shrunk any further. */
  isStopped(): boolean;
  /** Of every schedule that ended, before anything is done about what it found, in order; `fresh`: what of that is new. */
  onSchedule(schedule: HuntSchedule, result: ScheduleResult, fresh: readonly Discovery[]): void;
  /** Of every mistake that is new; it must be kept when this resolves. `budget`: for playing it again. */
  onFinding(finding: NewFinding, budget: Budget): Promise<void>;
  /** Of what is the same mistake as one that `onFinding` had of before (its fingerprint). */
  onSame(found: Discovery, as: string): void;
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
  /** How long clients hold in its schedule; absent: as the hunt's config says. */
  hold?: HoldTimes;
  /** What else its schedule shows of the same mistake. */
  same: Discovery[];
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
  const { budget, isStopped } = options;
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
  const search = new Search(options, totals);
  const told: ShownFinding[] = [];
  do await tellOf(await search.goOn(), told, totals, options);
  while (!search.isOver && !isStopped() && !budget.isSpent());
  return totals;
}

/** Found, and not told yet. */
interface Waiting {
  found: Discovery;
  fingerprint: string;
  schedule: HuntSchedule;
  result: ScheduleResult;
}

class Search {
  /** Whether there are no more schedules. */
  isOver = false;
  private readonly known = new Set<string>();
  private readonly leftOut = new Set<string>();
  private readonly corpus = new Corpus();
  private generation = 0;
  /** Of the generation that was begun, what was not played yet. */
  private unplayed: HuntSchedule[] = [];
  /** What of it every lock may break by here, which is seen to before the next. */
  private suspects: Waiting[] = [];

  constructor(
    private readonly options: HuntOptions,
    private readonly totals: HuntTotals,
  ) {}

  /** Plays on, until the budget is spent, or half of it when anything was found; resolves with what is new. */
  async goOn(): Promise<Waiting[]> {
    const { worlds, config, budget, isStopped } = this.options;
    const beforeTelling = budget.part(1 - AFTER_THE_SEARCH);
    const waiting: Waiting[] = [];
    let [hasPlayed, hasFound] = [this.totals.schedules > 0, false];
    const ends = () => isStopped() || (hasPlayed && (budget.isSpent() || (hasFound && beforeTelling.isSpent())));
    while (!ends() && (await this.hasNext())) {
      const results = await playAll(worlds, this.unplayed, config, ends, (result) => {
        hasPlayed = true;
        hasFound ||= !(result instanceof EndlessScheduleError) && this.freshIn(result).length > 0;
      });
      for (const [n, result] of results.entries()) waiting.push(...this.learn(this.unplayed[n]!, result));
      this.unplayed = this.unplayed.slice(results.length);
    }
    return waiting;
  }

  private async hasNext(): Promise<boolean> {
    if (this.unplayed.length > 0) return true;
    await this.leaveOut();
    this.unplayed = generationOf(this.generation++, this.options, this.leftOut, this.corpus);
    this.isOver = this.unplayed.length === 0;
    return !this.isOver;
  }

  private learn(schedule: HuntSchedule, result: PlayResult): Waiting[] {
    const { options, totals } = this;
    totals.schedules++;
    if (result instanceof EndlessScheduleError) {
      totals.endless++;
      options.onEndless(schedule.number, result.message);
      return [];
    }
    add(totals, result);
    this.corpus.learn(schedule, result.shown);
    const fresh = this.freshIn(result).map((found) => ({ found, fingerprint: fingerprintOf(found), schedule, result }));
    for (const { fingerprint } of fresh) this.known.add(fingerprint);
    // Who comes back when a lease is over shows what its lock does then: never left out, though every lease breaks by it.
    this.suspects.push(...fresh.filter(({ found }) => found.blame === 'deployment'));
    options.onSchedule(
      schedule,
      result,
      fresh.map(({ found }) => found),
    );
    return fresh;
  }

  /** Each fingerprint once. */
  private freshIn({ found }: ScheduleResult): Discovery[] {
    const fresh = new Map(found.map((one) => [fingerprintOf(one), one]));
    return [...fresh].filter(([fingerprint]) => !this.known.has(fingerprint)).map(([, one]) => one);
  }

  /** Of the next schedules each fault that breaks every lock here by itself, with whatever it comes. */
  private async leaveOut(): Promise<void> {
    const { worlds, config, topology } = this.options;
    const onEndless = () => this.totals.endlessShrinking++;
    for (const { fingerprint, schedule } of this.suspects.splice(0)) {
      const finds = finder(worlds[0]!, schedule, config, fingerprint, onEndless);
      const whole = wholeOf(schedule, config);
      if (await finds({ ...whole, steps: [] })) continue;
      const { steps } = schedule;
      // Of several faults it is not known which of them breaks every lock.
      const alone = steps.length === 1 ? steps[0] : await firstOf(steps, (step) => finds({ ...whole, steps: [step] }));
      if (alone && mayBeLeftOut(alone)) this.leftOut.add(searchedAs(alone, topology));
    }
    this.totals.leftOut = [...this.leftOut];
  }
}

/**
 * Shrinks what was found, each in a world that is free, and has every mistake told once, first the lock's. `told`: what was told
 * before, to which it adds.
 */
async function tellOf(
  waiting: readonly Waiting[],
  told: ShownFinding[],
  totals: HuntTotals,
  { worlds, config, budget, isStopped, onFinding, onSame }: HuntOptions,
): Promise<void> {
  const inOrder = waiting.toSorted((a, b) => byTelling(a.found, b.found));
  const shown: (ShownFinding & { shrunk: Shrunk })[] = [];
  let next = 0;
  const shrinks = async (world: WorldProcess) => {
    for (let n = next++; n < inOrder.length; n = next++) {
      const { found, fingerprint, schedule, result } = inOrder[n]!;
      const asFound = { found, fingerprint, schedule: schedule.number, shows: result.found, isMinimal: false };
      // What a minimal schedule explains need not be shrunk.
      // Worlds are ready in any order: of some that come before this one nothing is known yet.
      const isTold = [...told, ...Object.values(shown)].some((other) => isSameMistake(asFound, other));
      const part = budget.part(SHRINKING / Math.ceil((inOrder.length - n) / worlds.length));
      const { shrunk, shows = result.found } = await shrinkFinding(world, schedule, config, fingerprint, {
        onEndless: () => totals.endlessShrinking++,
        isStopped: () => isTold || isStopped() || part.isSpent(),
      });
      shown[n] = { ...asFound, shows, isMinimal: shrunk.isMinimal, shrunk };
    }
  };
  await Promise.all(worlds.map(shrinks));
  const fresh = new Map<ShownFinding, NewFinding>();
  const same = new Map<ShownFinding, ShownFinding>();
  for (const [n, one] of shown.entries()) {
    const { found, fingerprint, schedule, shrunk } = one;
    const first = [...told, ...shown.slice(0, n)].find((other) => isSameMistake(one, other));
    if (first) {
      const as = same.get(first) ?? first;
      same.set(one, as);
      const beside = fresh.get(as)?.same;
      if (beside) beside.push(found);
      else onSame(found, as.fingerprint);
    } else {
      const { steps, hold } = inOrder[n]!.schedule;
      const what = { found, fingerprint, schedule, faults: steps.length, ...(hold && { hold }) };
      fresh.set(one, { ...what, shrunk, same: [] });
    }
  }
  let left = fresh.size;
  for (const finding of fresh.values()) await onFinding(finding, budget.part(1 / left--));
  told.push(...fresh.keys());
}

function add(totals: HuntTotals, { verdict, virtualMs, holds, strikes, struckHolds }: ScheduleResult): void {
  totals.virtualMs += virtualMs;
  totals.holds += holds;
  totals.strikes += strikes;
  totals.struckHolds += struckHolds;
  if (verdict === 'unknown') totals.untold++;
}
