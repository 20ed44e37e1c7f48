/**
 * What a hunt has learned: the schedules that showed an order of commands that none before had shown, and others made of them. A
 * schedule that came near something rare is nearer to what is rarer still than one that is drawn anew, as in
 * coverage-guided fuzzing.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { Random } from '../../harness/vocabulary/time.js';
import type { HuntSchedule } from './hunt-schedule.js';

type TimedStep = Extract<PlanStep, { atMs: number }>;

/** Of schedules, as soon as there is anything to make them of: the others are drawn anew, or what nobody came near is never found. */
const MADE_OF_OTHERS = 0.5;
const MOST_FAULTS = 6;
const SHORTEST_MS = 10;
/** A fault that is moved begins so much earlier or later: to another moment of one operation, or to another operation. */
const NEAR_MS = 20;
const FAR_MS = 400;
/** The same for a request that is held back: another command of one operation, or another operation. */
const NEAR_REQUESTS = 3;
const FAR_REQUESTS = 40;

export class Corpus {
  private readonly seen = new Set<string>();
  private readonly kept: HuntSchedule[] = [];

  /** How many orders of commands there have been. */
  get size(): number {
    return this.seen.size;
  }

  /** Of schedules in the order of their numbers. Whether it showed anything new. */
  learn(schedule: HuntSchedule, shown: readonly string[]): boolean {
    const before = this.seen.size;
    for (const one of shown) this.seen.add(one);
    if (this.seen.size === before) return false;
    this.kept.push(schedule);
    return true;
  }

  /**
   * A schedule in place of the one that was drawn: one that was kept, with a change, for which the drawn one gives what it takes.
   * Undefined: the drawn one stays. `random`: of the schedule's number, so that it does not matter who asks first.
   */
  madeOf(drawn: HuntSchedule, endMs: number, random: Random): HuntSchedule | undefined {
    if (this.kept.length === 0 || random.float() >= MADE_OF_OTHERS) return undefined;
    // The later it was kept, the rarer what it showed.
    const at = Math.max(random.int(0, this.kept.length - 1), random.int(0, this.kept.length - 1));
    const parent = this.kept[at]!;
    const steps = changed(parent.steps as TimedStep[], drawn.steps as TimedStep[], endMs, random);
    // With other chance, the same faults meet other operations.
    const seed = steps === undefined ? drawn.seed : parent.seed;
    const { hold, number: madeOf } = parent;
    return { number: drawn.number, seed, steps: steps ?? parent.steps, ...(hold && { hold }), madeOf };
  }
}

/** Undefined: as they are. */
function changed(
  steps: readonly TimedStep[],
  others: readonly TimedStep[],
  endMs: number,
  random: Random,
): TimedStep[] | undefined {
  const which = random.int(0, Math.max(0, steps.length - 1));
  const another = others.length > 0 ? random.pick(others) : undefined;
  const step = steps[which];
  const within = (ms: number) => Math.min(endMs, Math.max(0, ms));
  const inOrder = (made: TimedStep[]) => made.sort((a, b) => a.atMs - b.atMs);
  switch (random.int(0, 4)) {
    case 0: {
      if (!step) return undefined;
      const isNear = random.float() < 0.5;
      const byMs = isNear ? NEAR_MS : FAR_MS;
      if (typeof step.args?.request === 'number') {
        const by = isNear ? NEAR_REQUESTS : FAR_REQUESTS;
        const request = Math.max(1, step.args.request + random.int(-by, by));
        return steps.with(which, { ...step, args: { ...step.args, request } });
      }
      if (step.aim && isNear) {
        const count = Math.max(1, step.aim.count + random.int(-NEAR_REQUESTS, NEAR_REQUESTS));
        return steps.with(which, { ...step, aim: { ...step.aim, count } });
      }
      return inOrder(steps.with(which, { ...step, atMs: within(step.atMs + random.int(-byMs, byMs)) }));
    }
    case 1: {
      // What two faults do together, they do at about one time.
      const beside = steps[random.int(0, Math.max(0, steps.length - 1))];
      if (!step || !beside || beside === step) return undefined;
      return inOrder(steps.with(which, { ...step, atMs: within(beside.atMs + random.int(-NEAR_MS, NEAR_MS)) }));
    }
    case 2: {
      // What is about a primary takes as long as its own course takes.
      if (!step || step.target === 'primary') return undefined;
      const forMs = Math.max(Math.min(SHORTEST_MS, step.forMs), Math.round(step.forMs * random.float()));
      return steps.with(which, { ...step, forMs });
    }
    case 3: {
      if (!another) return undefined;
      const room = steps.length >= MOST_FAULTS ? steps.filter((_, n) => n !== which) : [...steps];
      return inOrder([...room, another]);
    }
    default:
      return undefined;
  }
}
