/** Exact quantiles by nearest rank: each is a value that was measured, none is interpolated. */

/** Sorts `values` in place, and gives their count, quantiles and maximum in milliseconds; undefined if there are none. */
export function summaryOfNs(
  valuesNs: Float64Array,
  quantiles: Readonly<Record<string, number>>,
): Record<string, number> | undefined {
  if (valuesNs.length === 0) return undefined;
  valuesNs.sort();
  const ms: Record<string, number> = { count: valuesNs.length };
  for (const [name, part] of Object.entries(quantiles)) ms[`${name}Ms`] = quantile(valuesNs, part) / 1e6;
  ms.maxMs = valuesNs.at(-1)! / 1e6;
  return ms;
}

/** The smallest value such that `part` of all values (0 < part ≤ 1) are not above it. `sorted` must not be empty. */
export function quantile(sorted: Float64Array, part: number): number {
  const rank = Math.ceil(part * sorted.length);
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1]!;
}
