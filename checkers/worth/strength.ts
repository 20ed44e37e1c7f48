/**
 * How much a pass is worth: a bound on how often a lock may still go wrong that never did here.
 *
 * What counts is strikes, not the holds that they met: a fault on a server meets all holds at once, and these are then no
 * independent tries. Without faults nothing but holds can be counted, and the words say so. Never accuses.
 */
import { plural } from '../../harness/record/facts/words.js';

/** With fewer strikes than this, a mistake that one in twenty of them shows could have been missed. */
export const ENOUGH_STRIKES = 59;
/** The same for holds, of which alone a run without faults has any. */
export const ENOUGH_HOLDS = ENOUGH_STRIKES;

/** Strikes, and how many holds they met. */
export interface StrikeCounts {
  strikes: number;
  struckHolds: number;
}

/** `0 of 9 strikes violated; at most 28 % at 95 % (41 holds struck)`; undefined without a strike. */
export function strengthOf({ strikes, struckHolds }: StrikeCounts): string | undefined {
  const bound = boundOf(strikes, 'strike');
  return bound === undefined ? undefined : `${bound} (${plural(struckHolds, 'hold')} struck)`;
}

/** Of a run without faults: what it tried, and what it did not. */
export function strengthWithoutFaults(holds: number): string | undefined {
  const bound = boundOf(holds, 'hold');
  return bound === undefined ? undefined : `${bound}, ${WITHOUT_FAULTS}`;
}

export const WITHOUT_FAULTS = 'without any fault: contention was tested, no failure was';

/**
 * If each of `count` had independently gone wrong with probability p, none would have with probability (1 − p)^count; the
 * largest p for which that is still at least 5 % is the bound. 41: 7.0 %.
 */
export function boundOf(count: number, what: string, many?: string): string | undefined {
  return count === 0
    ? undefined
    : `0 of ${plural(count, what, many)} violated; at most ${boundPercent(count)} % at 95 %`;
}

/** The bound alone, in two figures: `7.0`. `count`: from 1 on. */
export function boundPercent(count: number): string {
  return ((1 - 0.05 ** (1 / count)) * 100).toPrecision(2);
}
