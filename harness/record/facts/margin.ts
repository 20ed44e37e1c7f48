/** How much of a lease is left out of every accusation. */

/** A thousandth, in nanoseconds for each millisecond: whole numbers stay whole. */
const DRIFT_NS_PER_MS = 1_000;
const GRANULARITY_NS = 2e6;

/**
 * The last part of a lease in which a correct lock may already have granted the key to the next client: a thousandth of
 * the lease and 2 ms, in nanoseconds.
 *
 * Worked example. c1's SET … PX 5000 leaves at 1.000 000 s by CLOCK_MONOTONIC, so its lease ends at 6.000 000 s. Redis
 * counts in whole milliseconds of its wall clock: the SET that runs at …000.9 ms expires at …5000.0 ms, up to 1 ms early,
 * and the next command may read a clock rounded the other way. The wall clock itself is slewed by NTP by up to 500 ppm
 * (2.5 ms in 5 s) and no server's oscillator is perfect. So c2 may truly be granted the key at 5.996 s; it is accused
 * only before 6.000 − 0.007 = 5.993 s.
 */
export function leaseMarginNs(leaseMs: number): number {
  return leaseMs * DRIFT_NS_PER_MS + GRANULARITY_NS;
}
