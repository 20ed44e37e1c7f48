/**
 * Keeps a drawing small: what is narrower than a pixel or two and as close to its neighbour is drawn as one bar, which
 * says how many it stands for. Nothing is dropped, and what must be seen by itself (`apart`) never merges.
 */

export interface Span<T> {
  fromX: number;
  untilX: number;
  apart: boolean;
  item: T;
}

export interface Merged<T> {
  fromX: number;
  untilX: number;
  items: T[];
}

/** Merges one row; `spans` in order of `fromX`. */
export function mergeRow<T>(spans: readonly Span<T>[], tolerancePx: number): Merged<T>[] {
  const merged: Merged<T>[] = [];
  let open: Merged<T> | undefined;
  for (const span of spans) {
    const small = !span.apart && span.untilX - span.fromX < tolerancePx;
    const joins =
      small &&
      open !== undefined &&
      span.fromX - open.untilX < tolerancePx &&
      // Short runs only, so that how dense it is stays visible along the axis.
      span.untilX - open.fromX <= Math.max(6, 3 * tolerancePx);
    if (joins && open !== undefined) {
      open.items.push(span.item);
      open.untilX = Math.max(open.untilX, span.untilX);
      continue;
    }
    const bar: Merged<T> = { fromX: span.fromX, untilX: span.untilX, items: [span.item] };
    merged.push(bar);
    open = small ? bar : undefined;
  }
  return merged;
}

/** Merges rows with the smallest tolerance at which they fit `budget` bars in all. */
export function mergeRows<T>(
  rows: readonly (readonly Span<T>[])[],
  budget: number,
): { rows: Merged<T>[][]; tolerancePx: number } {
  for (let tolerancePx = 1; ; tolerancePx *= 2) {
    const merged = rows.map((row) => mergeRow(row, tolerancePx));
    const bars = merged.reduce((sum, row) => sum + row.length, 0);
    // Wider than any drawing: whatever is left is what must be drawn apart.
    if (bars <= budget || tolerancePx > 2_048) return { rows: merged, tolerancePx };
  }
}

/** Which part of the time from the first beginning to the last end lies in one of `spans` (in order of beginning). */
export function fullness(spans: readonly (readonly [from: number, until: number])[]): number {
  const first = spans[0]?.[0] ?? 0;
  let covered = 0;
  let end = first;
  for (const [from, until] of spans) {
    covered += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return end > first && Number.isFinite(end) ? covered / (end - first) : 1;
}
