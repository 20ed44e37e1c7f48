/** Whether a run found the bug of an entry: a finding of what it breaks, and the lock's own mistake as far as that is known. */
import { blamedOn } from '../../harness/record/facts/blame.js';
import type { Violation, ViolationClass } from '../../harness/vocabulary/verdict.js';
import type { BrokenProperty } from '../../scenarios/track-record/index.js';

/**
 * Classes of findings by which each property shows itself. Where an untrue answer is the bug, its client goes on working, or what
 * is left stands in the way of others.
 */
const SHOWN_AS: Readonly<Record<BrokenProperty, readonly ViolationClass[]>> = {
  exclusion: ['exclusion', 'stale', 'harm'],
  stale: ['stale'],
  liveness: ['liveness'],
  fairness: ['liveness'],
  leak: ['liveness'],
  try: ['liveness'],
  token: ['exclusion', 'stale', 'harm', 'liveness'],
};

/** Of a run's findings those that may be the bug. What is the lease's or the deployment's is not: the mended version has that as well. */
export function thoseThatMayBe(property: BrokenProperty, violations: readonly Violation[]): Violation[] {
  const classes = SHOWN_AS[property];
  return violations.filter((one) => classes.includes(one.class) && ['lock', 'unexplained'].includes(blamedOn(one)));
}
