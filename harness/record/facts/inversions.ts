/**
 * Counts the pairs that stand in the wrong order, in O(n log n) however many they are: a counter that starts again from 1
 * after 100,000 grants makes five thousand million of them.
 */
import { firstIndex } from './first-index.js';
import { Ranks } from './ranks.js';

/** Points, one for each place of both columns. */
export interface Points {
  x: Float64Array;
  y: Float64Array;
}

/** How many pairs (a, b) there are with a.x < b.x and a.y > b.y. Equal coordinates make no pair. */
export function countInversions(a: Points, b: Points): number {
  const heights = Float64Array.from(a.y).sort();
  const aByX = orderByX(a);
  const bByX = orderByX(b);
  /** Of those to the left. */
  const ranks = new Ranks(heights.length);
  let [met, pairs] = [0, 0];
  for (const of of bByX) {
    for (; met < aByX.length && a.x[aByX[met]!]! < b.x[of]!; met++) ranks.add(ranksUpTo(heights, a.y[aByX[met]!]!) - 1);
    pairs += ranks.notBelow(ranksUpTo(heights, b.y[of]!));
  }
  return pairs;
}

function orderByX({ x }: Points): Int32Array {
  return Int32Array.from(x, (_, n) => n).sort((m, n) => x[m]! - x[n]!);
}

/** How many of the sorted values are not above `bound`. */
function ranksUpTo(sorted: Float64Array, bound: number): number {
  return firstIndex(sorted.length, (at) => sorted[at]! > bound);
}
