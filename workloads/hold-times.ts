/**
 * How long a client works under the lock, how long it waits for it, and how long it pauses between turns: from a run's
 * `HoldTimes`, drawn from the seed.
 *
 * A mixture needs a budget. A race of milliseconds takes thousands of tries, so nearly all holds must be brief; a failover or
 * a sleep harms only who holds for long, so some must be long. Were a fixed part of the holds long, a quick lock would stand
 * still under them and a slow one would have next to none. So what is fixed is the part of the keys' time that they take:
 * each client takes its next long hold when the time for it has come, however often it was granted the lock meanwhile.
 *
 * Long holds follow one another on some of the keys. What a client does wrong that wakes when its lease is over it does to
 * whoever holds its key by then; that shows where a third client is let in while that holder is still at work.
 *
 * What only some applications do, some of the holds do: they outlast the lease, as far as the lock lets them, are extended
 * before they need it, have another key beside theirs, are released too late, or were waited for for longer than a lease. And
 * who comes up in the place of one that died takes up its work, as who lost its lock in the midst of its work does its own.
 */
import type { Random } from '../harness/vocabulary/time.js';
import type { HoldHabits, HoldTimes, MinMax, MixedHolds, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { freeKeys, openingKey } from './opening.js';

/** What workloads do that say nothing else. */
export const MIXED_HOLDS: MixedHolds = {
  briefMs: { min: 1, max: 30 },
  long: { min: 1 / 3, max: 0.9 },
  longShare: 0.35,
  longOn: 0.5,
  briefWaitMs: { min: 1, max: 50 },
  briefTries: 0.25,
  pauseMs: { min: 0, max: 5 },
  habits: {
    keptOn: 0.4,
    kept: { min: 1.2, max: 2.2 },
    releasedLate: 0.2,
    extended: 0.1,
    besideAnother: 0.05,
    patient: 0.5,
    cancelled: 0.5,
  },
};

/** How long a patient acquire waits at most, in parts of the lease: for whoever holds, and then some. */
const PATIENT = 1.2;

/** After so long, milliseconds, a caller gives up what it asked for: within the time of a command or two. */
const GIVES_UP_WITHIN_MS: readonly number[] = [3, 10];

/** After a refusal or a release, so that others get their turn. */
const PAUSE_MS: MinMax = { min: 1, max: 40 };

/** What is done under a hold beside working and releasing it. */
export type Habit = 'none' | 'kept-on' | 'released-late' | 'extended' | 'beside-another';

/** What a lock lets its clients do. */
export interface Lasting {
  /** It renews by itself. */
  renews: boolean;
  /** It can be extended. */
  extends: boolean;
}

/** Of one client, turn by turn. */
export interface TurnTimes {
  /** Of which keys to take one; asked first, when the turn begins. */
  keys(): readonly string[];
  /** How long to wait for the lock. */
  waitMs(): number;
  /** After how long whoever asked for it gives up, milliseconds; undefined: it waits. Asked when it is decided which key to take. */
  cancelAfterMs(key: string): number | undefined;
  /** How it is done; asked once it is granted, and before `workMs`. */
  habit(lock: Lasting): Habit;
  /** How long to work under it; asked once it is granted. */
  workMs(): number;
  /** Work that was to outlast the lease ended with the lock: the next turn begins it anew. */
  cutShort(key: string): void;
  /** How long to leave it to others, when the turn is over. */
  pauseMs(): number;
}

export function turnTimes(options: WorkloadOptions, random: Random): TurnTimes {
  const { hold } = options;
  return isMixed(hold) ? new MixedTimes(hold, options, random) : boundedTimes(hold, options, random);
}

/** Whether most holds are brief and a few are long. */
export function isMixed(hold: HoldTimes): hold is MixedHolds {
  return 'briefMs' in hold;
}

/** How long work is where all of it is long, in parts of the lease. */
export function longHolds(hold: HoldTimes): MinMax {
  return isMixed(hold) ? hold.long : hold;
}

/**
 * Half of the holds are short, so that the lock changes hands often; the other half may be as long as `hold` allows, so that
 * there is something to lose when a primary dies.
 */
function boundedTimes(hold: MinMax, { keys, leaseMs, waitMs }: WorkloadOptions, random: Random): TurnTimes {
  return {
    keys: () => keys,
    waitMs: () => waitMs,
    cancelAfterMs: () => undefined,
    habit: () => 'none',
    workMs() {
      const short = random.float() < 0.5;
      const span = (hold.max - hold.min) * (short ? 0.1 : 1);
      return leaseMs * (hold.min + random.float() * span);
    },
    cutShort() {},
    pauseMs: () => random.int(PAUSE_MS.min, PAUSE_MS.max),
  };
}

class MixedTimes implements TurnTimes {
  /** From the end of one long hold to when the next is due, in parts of how long it was. */
  private readonly gap: number;
  private dueMs: number;
  /** Whether this turn is for a long hold. */
  private isLong = false;
  private isKept = false;
  /** What is to be taken up again, until it was. */
  private resumes: string | undefined;
  /** Its own, which is to outlast the lease as before. */
  private wasCutShort = false;

  constructor(
    private readonly mixed: MixedHolds,
    private readonly options: WorkloadOptions,
    private readonly random: Random,
  ) {
    const { clients, keys, leaseMs, nowMs, resumes } = options;
    const { long, longShare, habits } = mixed;
    const longMs = (leaseMs * (long.min + long.max)) / 2;
    this.gap = Math.max(0, clients / (keys.length * longShare) - 1);
    this.dueMs = nowMs() + this.gap * longMs * random.float();
    this.resumes = habits && resumes !== openingKey(options) ? resumes : undefined;
  }

  keys(): readonly string[] {
    const { nowMs } = this.options;
    const { longOn = 1 } = this.mixed;
    this.isKept = false;
    if (this.resumes !== undefined) {
      this.isLong = true;
      return [this.resumes];
    }
    this.isLong = nowMs() >= this.dueMs;
    const { keys } = this.options;
    return this.isLong ? keys.slice(0, Math.ceil(keys.length * longOn)) : freeKeys(this.options);
  }

  /**
   * Who wants the lock for a moment gives up soon, or at once, as who only skips what another is at: else all would stand before
   * what is held for long.
   */
  waitMs(): number {
    const { mixed, random } = this;
    const { waitMs, leaseMs } = this.options;
    const { briefWaitMs, briefTries, habits } = mixed;
    if (!briefWaitMs) return waitMs;
    if (!this.isLong) {
      const isTry = briefTries !== undefined && random.float() < briefTries;
      return isTry ? 0 : logUniform(briefWaitMs, random);
    }
    const longestMs = PATIENT * leaseMs;
    // Its predecessor's key ends with its lease: what is asked for once is not asked for again.
    if (this.resumes !== undefined) return longestMs;
    if (!habits || waitMs >= longestMs || random.float() >= habits.patient) return waitMs;
    return logUniform({ min: Math.max(1, waitMs), max: longestMs }, random);
  }

  /**
   * Of one key alone: what comes of a try that was given up is not always known, and while it may have left something nothing is
   * said of a key that nobody can have.
   */
  cancelAfterMs(key: string): number | undefined {
    const { mixed, random, isLong } = this;
    const { keys } = this.options;
    const { habits, longOn = 1 } = mixed;
    const isApart = key === keys.at(-1) && Math.ceil(keys.length * longOn) < keys.length;
    if (!habits?.cancelled || isLong || !isApart || random.float() >= habits.cancelled) return undefined;
    return random.pick(GIVES_UP_WITHIN_MS) * random.float();
  }

  habit(lock: Lasting): Habit {
    const { habits } = this.mixed;
    if (this.wasCutShort) {
      this.isKept = true;
      return 'kept-on';
    }
    // A predecessor's work that is taken up again is done in the usual way.
    if (!habits || this.resumes !== undefined) return 'none';
    return this.isLong ? this.longHabit(habits, lock) : this.briefHabit(habits, lock);
  }

  private longHabit({ keptOn, releasedLate }: HoldHabits, lock: Lasting): Habit {
    const drawn = this.random.float();
    this.isKept = drawn < keptOn && (lock.renews || lock.extends);
    if (this.isKept) return 'kept-on';
    // What is renewed until it is released is not free before.
    return drawn >= 1 - releasedLate && !lock.renews ? 'released-late' : 'none';
  }

  private briefHabit({ extended, besideAnother }: HoldHabits, lock: Lasting): Habit {
    const drawn = this.random.float();
    if (drawn < extended) return lock.extends ? 'extended' : 'none';
    return drawn >= 1 - besideAnother ? 'beside-another' : 'none';
  }

  workMs(): number {
    const { mixed, random, isKept } = this;
    const { leaseMs, nowMs } = this.options;
    const shortestLongMs = leaseMs * mixed.long.min;
    this.resumes = undefined;
    this.wasCutShort = false;
    // Of a lease of milliseconds, brief is what is not long.
    if (!this.isLong) return Math.min(logUniform(mixed.briefMs, random), shortestLongMs);
    const workMs = leaseMs * between(isKept ? mixed.habits!.kept : mixed.long, random);
    const usualMs = (leaseMs * (mixed.long.min + mixed.long.max)) / 2;
    this.dueMs = nowMs() + workMs + this.gap * (isKept ? workMs : usualMs) * (0.5 + random.float());
    return workMs;
  }

  cutShort(key: string): void {
    this.resumes = key;
    this.wasCutShort = true;
  }

  pauseMs(): number {
    return Math.round(between(this.mixed.pauseMs, this.random));
  }
}

function between({ min, max }: MinMax, random: Random): number {
  return min + random.float() * (max - min);
}

/** As likely from 1 to 2 as from 10 to 20. */
function logUniform({ min, max }: MinMax, random: Random): number {
  return min * (max / min) ** random.float();
}
