/**
 * The first index from 0 on at which `reached` holds, of something in order: it holds from some index on, and nowhere before.
 * `count` where it never does. O(log n).
 */
export function firstIndex(count: number, reached: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
