/** Looking for the least that does, where each look costs much. */

/**
 * The smallest number from `min` to `now` of which it is known that it does and one less does not; `now` does. Found by halves: where one does,
 * more do, as a rule.
 */
export async function fewest(min: number, now: number, does: (number: number) => Promise<boolean>): Promise<number> {
  if (now <= min || !(await does(now - 1))) return now;
  let [low, high] = [min, now - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await does(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

export async function firstOf<One>(
  all: readonly One[],
  does: (one: One) => Promise<boolean>,
): Promise<One | undefined> {
  for (const one of all) if (await does(one)) return one;
  return undefined;
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
}
