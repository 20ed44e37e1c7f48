/**
 * Every order in which a number of processes can do what they do, each course of events once: a depth-first search over choices
 * that starts every course anew (stateless), with sleep sets (Godefroid, Partial-Order Methods for the Verification of Concurrent
 * Systems, 1996). Courses that differ only in the order of independent actions are one.
 *
 * It knows nothing of locks: what can be done next it is told by whoever plays a course, and which actions depend on each other by
 * `dependent`, which must be true wherever two actions, in whatever state both are possible, could disturb each other or be told
 * apart by their order.
 */

/** Something that can be done next. Its id says what it is, whatever else was done before. */
export interface ExploredAction {
  readonly id: string;
}

export type Dependent<Action> = (one: Action, other: Action) => boolean;

/** Where a course branches off: what is done first, and what need not be done next, because another course has it. */
export interface Branch<Action extends ExploredAction> {
  prefix: readonly string[];
  sleeping: readonly Action[];
}

export const ROOT = { prefix: [], sleeping: [] } as const;

/** What can be done in a state and is not asleep there, in order; the first is what a course goes on with. */
export function awake<Action extends ExploredAction>(
  possible: readonly Action[],
  sleeping: readonly Action[],
): readonly Action[] {
  const asleep = new Set(sleeping.map(({ id }) => id));
  return possible.filter(({ id }) => !asleep.has(id));
}

/** What sleeps after the nth of `candidates` was done: what slept before or was done first there, as far as it is independent of that. */
export function sleepingAfter<Action extends ExploredAction>(
  candidates: readonly Action[],
  n: number,
  sleeping: readonly Action[],
  dependent: Dependent<Action>,
): Action[] {
  const done = candidates[n]!;
  return [...sleeping, ...candidates.slice(0, n)].filter((one) => !dependent(one, done));
}

/**
 * The branches that leave a course which was played from `branch` on, always with the first that was awake. `possible`: what could be
 * done in each of its states from the branch on; of the last, where everything slept or nothing was left, too.
 */
export function branchesOf<Action extends ExploredAction>(
  branch: Branch<Action>,
  possible: readonly (readonly Action[])[],
  dependent: Dependent<Action>,
): Branch<Action>[] {
  const branches: Branch<Action>[] = [];
  let { prefix, sleeping } = branch;
  for (const state of possible) {
    const candidates = awake(state, sleeping);
    for (let n = 1; n < candidates.length; n++)
      branches.push({
        prefix: [...prefix, candidates[n]!.id],
        sleeping: sleepingAfter(candidates, n, sleeping, dependent),
      });
    if (candidates.length === 0) break;
    sleeping = sleepingAfter(candidates, 0, sleeping, dependent);
    prefix = [...prefix, candidates[0]!.id];
  }
  return branches;
}

/**
 * How many courses there are, by random descents (Knuth, Estimating the Efficiency of Backtrack Programs, 1975): the mean over
 * descents of the product of what could be chosen from at each of their states.
 */
export class TreeEstimate {
  private descents = 0;
  private sum = 0;

  /** `choices`: at each state of a descent, how many there were. */
  add(choices: readonly number[]): void {
    this.descents++;
    this.sum += choices.reduce((product, count) => product * Math.max(1, count), 1);
  }

  /** 0 before there was any. */
  get size(): number {
    return this.descents === 0 ? 0 : Math.round(this.sum / this.descents);
  }
}

/**
 * In how many orders a course's actions can be done so that those which depend on each other keep theirs: as many courses are one
 * with it. Counted over the sets of what can have been done already.
 */
export function ordersOf<Action>(course: readonly Action[], dependent: Dependent<Action>): number {
  const before = course.map((one, n) => course.flatMap((other, at) => (at < n && dependent(other, one) ? [at] : [])));
  let ways = new Map([['', 1]]);
  for (let done = 0; done < course.length; done++) {
    const longer = new Map<string, number>();
    for (const [key, count] of ways) {
      const had = new Set(key === '' ? [] : key.split(',').map(Number));
      for (let n = 0; n < course.length; n++) {
        if (had.has(n) || !before[n]!.every((one) => had.has(one))) continue;
        const next = [...had, n].sort((a, b) => a - b).join(',');
        longer.set(next, (longer.get(next) ?? 0) + count);
      }
    }
    ways = longer;
  }
  return [...ways.values()].reduce((sum, count) => sum + count, 0);
}
