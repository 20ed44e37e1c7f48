/**
 * Counts the pairs that stand in the wrong order, in O(n log n) however many they are: a counter that starts again from 1
 * after 100,000 grants makes five thousand million of them.
 */

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
  /** A Fenwick tree over the ranks of `a.y` (Fenwick 1994): how many of those to the left are how high. */
  const tree = new Int32Array(heights.length + 1);
  let [met, pairs] = [0, 0];
  for (const of of bByX) {
    for (; met < aByX.length && a.x[aByX[met]!]! < b.x[of]!; met++)
      for (let at = ranksUpTo(heights, a.y[aByX[met]!]!); at < tree.length; at += at & -at) tree[at]!++;
    let notAbove = 0;
    for (let at = ranksUpTo(heights, b.y[of]!); at > 0; at -= at & -at) notAbove += tree[at]!;
    pairs += met - notAbove;
  }
  return pairs;
}

function orderByX({ x }: Points): Int32Array {
  return Int32Array.from(x, (_, n) => n).sort((m, n) => x[m]! - x[n]!);
}

/** How many of the sorted values are not above `bound`. */
function ranksUpTo(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
