/** How run time grows with size, on a machine that does other things as well. */

/** For eight times as many: as n log n it is 8 to 10, and somewhat more where the smaller one fits into the caches; were it quadratic, 64. */
export const LARGEST_GROWTH = 32;

/** How much longer `many` takes than `few`, in time on a processor. */
export function growth(few: () => void, many: () => void): number {
  // Not on the clock: under load a run of some 100 ms is interrupted more often than one of a few.
  const takesUs = (run: () => void) => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // Whatever else the machine does can only add: the fastest of several, and of more where that was not enough.
  let [fewUs, manyUs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 40 && (round < 3 || manyUs / fewUs >= LARGEST_GROWTH); round++) {
    fewUs = Math.min(fewUs, takesUs(few));
    manyUs = Math.min(manyUs, takesUs(many));
  }
  return manyUs / fewUs;
}
