/**
 * What let one hold act after another was granted, as an overlap of the two: so that the same doubts bear on it, and the
 * same chains of evidence explain it.
 */

import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { unexplained } from './unexplained.js';

/** `second` was granted while `first` went on. Of class `exclusion` where it was granted while the lease certainly ran. */
export function overlapBetween(first: Hold, second: Hold): Overlap {
  const leasedUntilNs = first.leaseEndNs - leaseMarginNs(first.leaseMs);
  const together = { first, second, others: [], fromNs: second.fromNs };
  const untilNs = Math.max(second.fromNs, Math.min(first.untilNs, second.untilNs));
  return second.fromNs < leasedUntilNs
    ? { class: 'exclusion', ...together, untilNs: Math.min(untilNs, leasedUntilNs) }
    : { class: 'stale', stale: first, ...together, untilNs };
}

/**
 * Why `first` could act after `second` was granted; the chain is what is known where no other is complete. Where one hold
 * had ended when the other began (its client had learned that it was lost, say) there is no overlap to explain.
 */
export function causeBetween(
  first: Hold,
  second: Hold,
  explain: (overlap: Overlap) => Cause | undefined,
  chain: () => CauseLink[],
): Cause {
  const cause = second.fromNs < first.untilNs ? explain(overlapBetween(first, second)) : undefined;
  return cause === undefined || cause.name === 'unexplained' ? unexplained(chain()) : cause;
}
