/** How run time grows with size, on a machine that does other things as well. */

/** For eight times as many: as n log n it is 8 to 10, and somewhat more where the smaller one fits into the caches; were it quadratic, 64. */
export const LARGEST_GROWTH = 32;

/** How much longer `many` takes than `few`. */
export function growth(few: () => void, many: () => void): number {
  const takesMs = (run: () => void) => {
    const began = performance.now();
    run();
    return performance.now() - began;
  };
  // Whatever else the machine does can only add: the fastest of several, and of more where that was not enough.
  let [fewMs, manyMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 40 && (round < 3 || manyMs / fewMs >= LARGEST_GROWTH); round++) {
    fewMs = Math.min(fewMs, takesMs(few));
    manyMs = Math.min(manyMs, takesMs(many));
  }
  return manyMs / fewMs;
}
