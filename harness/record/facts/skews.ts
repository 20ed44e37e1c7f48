/**
 * How far a server's clock was off at each look at it, as well as all looks together tell.
 *
 * A look says only that the clock was off by so much at least: a question and its answer take time, half a second on a machine
 * with too much to do. While nothing moves the clock all looks are at the same error, so the one that was answered soonest
 * tells of them all. Example: looks say +1786, +1829 and +1874 ms after a jump; it was off by 1874 ms or a little more.
 */
import type { ClockMove } from './clock-moves.js';

interface Look {
  readonly atNs: number;
  readonly skewMs: number;
}

/** What was recorded within this time of a jump may have been asked before it. */
const ASKED_BEFORE_NS = 250e6;
/** Looks that differ by more are not at the same error, whatever is known of what moved the clock. */
const SLOWEST_MS = 500;

/** For each look, in order by time, the best of those at the same error; its own where the clock drifts or goes to and fro. */
export function bestSkews(looks: readonly Look[], moves: readonly ClockMove[]): number[] {
  if (moves.some(({ ratePpm, strobes }) => ratePpm !== 0 || strobes)) return looks.map(({ skewMs }) => skewMs);
  const edges = moves.flatMap(({ span }) => [span.fromNs, span.latestNs]).sort((a, b) => a - b);
  const best: number[] = [];
  let from = 0;
  for (const edgeNs of [...edges, Number.POSITIVE_INFINITY]) {
    let until = from;
    while (looks[until] && looks[until]!.atNs <= edgeNs) until++;
    best.push(...bestOf(looks.slice(from, until), edges.findLast((ns) => ns < edgeNs) ?? Number.NEGATIVE_INFINITY));
    from = until;
  }
  return best;
}

function bestOf(looks: readonly Look[], movedNs: number): number[] {
  const sure = looks.filter(({ atNs }) => atNs > movedNs + ASKED_BEFORE_NS).map(({ skewMs }) => skewMs);
  const [most, least] = [Math.max(...sure), Math.min(...sure)];
  return looks.map(({ skewMs }) => {
    const best = skewMs > 0 ? most : skewMs < 0 ? least : skewMs;
    return Math.abs(best) > Math.abs(skewMs) && Math.abs(best - skewMs) <= SLOWEST_MS ? best : skewMs;
  });
}
