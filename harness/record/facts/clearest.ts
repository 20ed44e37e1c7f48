/** Which of several violations shows best what went wrong. Pure. */
import type { Violation } from '../../vocabulary/verdict.js';

/** How long it lasted, nanoseconds; infinite or NaN where a bound is not known. */
export function lengthOf({ fromNs, untilNs }: Pick<Violation, 'fromNs' | 'untilNs'>): number {
  return untilNs - fromNs;
}

/**
 * The violation to show of several that tell the same: both of its bounds are known, none of its holds was cut off by the end of
 * the run, its cause has evidence; of these the longest, and of equally long ones the earliest. Undefined: there is none.
 */
export function clearestOf<V extends Violation>(violations: readonly V[]): V | undefined {
  return violations.reduce<V | undefined>(
    (best, one) => (best === undefined || isClearer(one, best) ? one : best),
    undefined,
  );
}

function isClearer(one: Violation, than: Violation): boolean {
  const doubts = doubtsOf(one) - doubtsOf(than);
  if (doubts !== 0) return doubts < 0;
  const longer = knownLength(one) - knownLength(than);
  return longer === 0 ? one.fromNs < than.fromNs : longer > 0;
}

function doubtsOf(violation: Violation): number {
  const { holds, cause } = violation;
  const unbounded = Number.isFinite(lengthOf(violation)) ? 0 : 4;
  const cutOff = holds.some(({ endedBy }) => endedBy === 'history-end') ? 2 : 0;
  return unbounded + cutOff + (cause.chain.length === 0 ? 1 : 0);
}

function knownLength(violation: Violation): number {
  const length = lengthOf(violation);
  return Number.isFinite(length) ? length : 0;
}
