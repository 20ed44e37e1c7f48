/** An exhaustive search as its user sees it: the estimate, how far it is, what it proves. */
import { count, plural } from '../../../harness/record/facts/words.js';
import type { RunConfig } from '../../../harness/vocabulary/run.js';
import type { FailOn } from '../../../harness/vocabulary/verdict.js';
import type { Budget } from '../budget.js';
import { failsBy, isOpen } from '../failing.js';
import type { HuntOptions, NewFinding } from '../hunt.js';
import type { Discovery } from '../schedule.js';
import type { WorldProcess } from '../world-process.js';
import { EXHAUSTED_FAULTS } from './actions.js';
import type { OrderBound } from './bound.js';
import { type ExhaustOptions, type ExhaustTotals, exhaust } from './exhaust.js';

const PROGRESS_EVERY_S = 15;

export interface ToldOptions {
  worlds: readonly WorldProcess[];
  config: RunConfig;
  bound: OrderBound;
  isReduced: boolean;
  onCourse: ExhaustOptions['onCourse'];
  budget: Budget;
  isStopped(): boolean;
  /** As in `HuntOptions`. */
  onSame: HuntOptions['onSame'];
  /** `world`: it is free until this resolves. */
  onFinding(finding: NewFinding, world: WorldProcess): Promise<void>;
  say(line: string): void;
  /** Since it began. */
  seconds(): number;
}

/** Tells as it goes; resolves with what was played. */
export async function exhaustAndTell(options: ToldOptions): Promise<ExhaustTotals> {
  const { worlds, config, bound, isReduced, onCourse, budget, isStopped, say, seconds } = options;
  const { clients, keys, timeLimitMs, seed } = config;
  let toldAt = 0;
  say(
    `every order of ${plural(clients, 'client')}, ${plural(bound.operations, 'operation')} each, with at most ${plural(bound.faults, 'fault')} (${EXHAUSTED_FAULTS.join(', ')})`,
  );
  const totals = await exhaust({
    worlds,
    config,
    bound,
    isReduced,
    onCourse,
    budget,
    isStopped,
    onEstimate: (courses) => {
      toldAt = seconds();
      say(`about ${plural(courses, 'schedule')}, by descents at random (rare long ones make it more)`);
    },
    onFinding: ({ found, fingerprint, schedule, same }, { course, faults }, world) => {
      const whole = { seed, steps: [], clients, keys: keys.length, timeLimitMs };
      const shrunk = { ...whole, executions: 0, isMinimal: true, wasStopped: false };
      const order = { ...bound, course: course.map(({ id }) => id) };
      return options.onFinding({ found, fingerprint, schedule, faults, shrunk, same, order }, world);
    },
    onSame: options.onSame,
    onProgress: ({ courses, left }) => {
      if (seconds() - toldAt < PROGRESS_EVERY_S) return;
      toldAt = seconds();
      say(`${count(courses)} schedules played, ${count(left)} known that are left (${seconds().toFixed(0)} s)`);
    },
  });
  say(summaryOf(totals, config, bound, seconds()));
  return totals;
}

function summaryOf(totals: ExhaustTotals, { clients }: RunConfig, bound: OrderBound, seconds: number): string {
  const { courses, descents, cut, left, endless, undecided, why, estimate, saved, isExhausted } = totals;
  const played = `${plural(courses, 'schedule')} in ${seconds.toFixed(1)} s`;
  const others = [
    ...(cut > 0 ? [`${count(cut)} begun and left where another had the rest`] : []),
    ...(undecided > 0
      ? [`of ${count(undecided)} it cannot be told whether anything was wrong (${why ?? 'no reason is known'})`]
      : []),
    ...(endless > 0 ? [`${count(endless)} did not end`] : []),
  ].join(', ');
  if (!isExhausted) {
    const most = Math.max(estimate, courses + left);
    const estimating = descents > 0 ? `${count(descents)} more for the estimate` : '';
    return [`not exhausted, ${count(courses)} of about ${count(most)} (${seconds.toFixed(1)} s)`, estimating, others]
      .filter(Boolean)
      .join('; ');
  }
  return [
    `exhausted: ${[played, others].filter(Boolean).join('; ')}; the reduction saved ${count(saved)}`,
    undecided > 0
      ? 'That is no proof.'
      : `Within ${plural(clients, 'client')}, ${plural(bound.operations, 'operation')} each and ${plural(bound.faults, 'fault')} what is not told above cannot happen: a proof within its bounds, which leave out servers that lose data, clocks that are moved, and more of anything.`,
  ].join('\n');
}

/** 1: something was found that fails it; 0: exhausted, and nothing was; 2: not exhausted, or of something it cannot be told. */
export function exhaustedStatus(
  { isExhausted, undecided }: ExhaustTotals,
  found: readonly Discovery[],
  failOn: readonly FailOn[],
): number {
  if (found.some((one) => failsBy(one, failOn))) return 1;
  return isExhausted && undecided === 0 && !isOpen(found, failOn) ? 0 : 2;
}
