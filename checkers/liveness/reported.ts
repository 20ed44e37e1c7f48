/** What a checker of this room makes of what it found. */
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';

/** The earliest are told as violations; `count`: how many there are in all. */
export function reported(
  violations: readonly Violation[],
  count: number,
  stats: CheckerFindings['stats'],
  notJudged?: string,
): CheckerFindings {
  return {
    verdict: violations.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations: [...violations],
    ...(count > violations.length && { found: { liveness: count } }),
    ...(notJudged !== undefined && { notJudged }),
    stats,
  };
}
