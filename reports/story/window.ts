/** The seconds around a violation that explain it. */
import type { Violation } from '../../harness/vocabulary/verdict.js';

const SECOND_NS = 1e9;
/** How far back a grant or a step of the cause may pull the window: an hour-old hold would flatten the overlap. */
const REACH_BACK_NS = 8 * SECOND_NS;
const REACH_ON_NS = 4 * SECOND_NS;

export interface DrawnWindow {
  fromNs: number;
  untilNs: number;
}

/** A second either side of the overlap, and more where the grants and the cause lie further off; within the run. */
export function windowOf(violation: Violation, run: DrawnWindow): DrawnWindow {
  const end = Number.isFinite(violation.untilNs) ? violation.untilNs : run.untilNs;
  const moments = [
    ...violation.holds.flatMap((hold) => [hold.grantSentNs, hold.fromNs, hold.untilNs]),
    ...violation.cause.chain.map((link) => link.atNs),
  ].filter((ns) => ns >= violation.fromNs - REACH_BACK_NS && ns <= end + REACH_ON_NS);
  const fromNs = Math.min(violation.fromNs - SECOND_NS, ...moments.map((ns) => ns - SECOND_NS / 4));
  const untilNs = Math.max(end + SECOND_NS, ...moments.map((ns) => ns + SECOND_NS / 4));
  return {
    fromNs: Math.max(run.fromNs, fromNs),
    untilNs: Math.max(Math.min(run.untilNs, untilNs), run.fromNs + 1),
  };
}
