/** One course of an exhausted schedule: which prefix it takes, what sleeps after it, and what came of it. */
import { createRandom } from '../../../harness/runtimes/random.js';
import { areDependent, type OrderAction } from './actions.js';
import type { OrderBound } from './bound.js';
import { awake, type Branch, type Dependent, sleepingAfter } from './explore.js';
import type { Choose } from './guided.js';

export interface OrderRequest extends Branch<OrderAction> {
  bound: OrderBound;
  /** Courses that differ in the order of independent actions are one; false: each is played, to see that this loses nothing. */
  isReduced: boolean;
  /** After the prefix by chance, from this seed; absent: by what is first. */
  descent?: number;
}

export interface OrderPlayed {
  /** Everything that was done, from the first choice on. */
  course: OrderAction[];
  /** What was possible in each state after the prefix. */
  possible: OrderAction[][];
  /** How many of that another course does not have. */
  choices: number[];
  faults: number;
  /** What would follow is on another course; of this one nothing was judged. */
  isCut: boolean;
  /** What can be told apart of it; absent where it was cut. */
  shape?: string;
}

export function dependencyOf({ isReduced }: Pick<OrderRequest, 'isReduced'>): Dependent<OrderAction> {
  return isReduced ? areDependent : () => true;
}

/** What chooses, and what it fills. */
export function courseOf(request: OrderRequest): { choose: Choose; played: OrderPlayed } {
  const { prefix, descent } = request;
  const random = descent === undefined ? undefined : createRandom(0).fork(`descent ${descent}`);
  const dependent = dependencyOf(request);
  const played: OrderPlayed = { course: [], possible: [], choices: [], faults: 0, isCut: false };
  let { sleeping } = request;
  const next = (possible: readonly OrderAction[]): OrderAction | undefined => {
    const at = played.course.length;
    if (at < prefix.length) {
      const known = possible.find(({ id }) => id === prefix[at]);
      if (!known)
        throw new Error(
          `"${prefix[at]}" was possible before and is not now: ${possible.map(({ id }) => id).join('; ')}`,
        );
      return known;
    }
    const candidates = awake(possible, sleeping);
    played.possible.push([...possible]);
    played.choices.push(candidates.length);
    if (candidates.length === 0) return undefined;
    const n = random ? random.int(0, candidates.length - 1) : 0;
    sleeping = sleepingAfter(candidates, n, sleeping, dependent);
    return candidates[n];
  };
  return {
    played,
    choose(possible) {
      const action = next(possible);
      if (!action) played.isCut = true;
      else {
        played.course.push(action);
        if (action.fault !== undefined) played.faults++;
      }
      return action;
    },
  };
}

/** A course to its end, as it is kept. */
export type KeptOrder = OrderBound & { course: string[] };

/** What plays it again. */
export function orderAgain({ operations, faults, course }: KeptOrder): OrderRequest {
  return { bound: { operations, faults }, prefix: course, sleeping: [], isReduced: true };
}
