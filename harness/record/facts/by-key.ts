/** Splits numbered things (rows, holds) into one list for each key, in the order in which they come. */
import { firstIndex } from './first-index.js';
import { sortNearlySorted } from './nearly-sorted.js';

/** `keyOf[n]` is the key of thing `n`; only things that `chosen` takes are listed. One list for each key, maybe empty. */
export function byKey(
  keyOf: Int32Array,
  count: number,
  keys: number,
  chosen: (n: number) => boolean = () => true,
): Int32Array[] {
  const sizes = new Int32Array(keys);
  const taken = new Uint8Array(count);
  for (let n = 0; n < count; n++) {
    if (!chosen(n)) continue;
    taken[n] = 1;
    sizes[keyOf[n]!]!++;
  }
  const lists = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(keys);
  for (let n = 0; n < count; n++) if (taken[n]) lists[keyOf[n]!]![filled[keyOf[n]!]!++] = n;
  return lists;
}

/** The same numbers in the order of a column. */
export function sortedBy(numbers: Int32Array, order: (a: number, b: number) => number): Int32Array {
  const sorted = numbers.slice();
  sortNearlySorted(sorted, order);
  return sorted;
}

/** How many of the numbers, which rise by `values`, have one below `bound`; with `orEqual` also one that is equal. */
export function countBelow(
  numbers: Int32Array,
  values: Float64Array,
  bound: number,
  orEqual: 'or equal' | 'only below' = 'only below',
): number {
  return orEqual === 'or equal'
    ? firstIndex(numbers.length, (at) => values[numbers[at]!]! > bound)
    : firstIndex(numbers.length, (at) => values[numbers[at]!]! >= bound);
}
