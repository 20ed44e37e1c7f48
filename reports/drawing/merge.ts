/**
 * Keeps a drawing small: what is narrower than a pixel or two and as close to its neighbour is drawn as one bar, which
 * says how many it stands for. Nothing is dropped, and what must be seen by itself (`apart`) never merges.
 */

/** Spans of one row, numbered from 0 in the order in which they begin: a long run has more of them than objects should be. */
export interface SpanRow {
  readonly count: number;
  fromX(n: number): number;
  untilX(n: number): number;
  apart(n: number): boolean;
}

/** One bar for the `count` spans of a row from `first` on. */
export interface Bar {
  fromX: number;
  untilX: number;
  first: number;
  count: number;
}

export interface Span {
  fromX: number;
  untilX: number;
  apart?: boolean;
}

/** A row of a few spans, which are there as objects. */
export function spanRowOf(spans: readonly Span[]): SpanRow {
  return {
    count: spans.length,
    fromX: (n) => spans[n]!.fromX,
    untilX: (n) => spans[n]!.untilX,
    apart: (n) => spans[n]!.apart === true,
  };
}

export function mergeRow(row: SpanRow, tolerancePx: number): Bar[] {
  const bars: Bar[] = [];
  let open: Bar | undefined;
  for (let n = 0; n < row.count; n++) {
    const [fromX, untilX] = [row.fromX(n), row.untilX(n)];
    const small = untilX - fromX < tolerancePx && !row.apart(n);
    const joins =
      small &&
      open !== undefined &&
      fromX - open.untilX < tolerancePx &&
      // Short runs only, so that how dense it is stays visible along the axis.
      untilX - open.fromX <= Math.max(6, 3 * tolerancePx);
    if (joins && open !== undefined) {
      open.count++;
      open.untilX = Math.max(open.untilX, untilX);
      continue;
    }
    const bar: Bar = { fromX, untilX, first: n, count: 1 };
    bars.push(bar);
    open = small ? bar : undefined;
  }
  return bars;
}

/** Merges rows with the smallest tolerance at which they fit `budget` bars in all. */
export function mergeRows(rows: readonly SpanRow[], budget: number): { rows: Bar[][]; tolerancePx: number } {
  for (let tolerancePx = 1; ; tolerancePx *= 2) {
    const merged = rows.map((row) => mergeRow(row, tolerancePx));
    const bars = merged.reduce((sum, row) => sum + row.length, 0);
    // Wider than any drawing: whatever is left is what must be drawn apart.
    if (bars <= budget || tolerancePx > 2_048) return { rows: merged, tolerancePx };
  }
}

/** The bars that stand for several spans, and for how many all of them do. */
export function sharedBars(rows: readonly (readonly Bar[])[]): { bars: number; spans: number } {
  const shared = rows.flat().filter((bar) => bar.count > 1);
  return { bars: shared.length, spans: shared.reduce((sum, bar) => sum + bar.count, 0) };
}

/** Which part of the time from the first beginning to the last end lies in one of `spans` (in order of beginning). */
export function fullness(spans: Iterable<readonly [from: number, until: number]>): number {
  let first: number | undefined;
  let covered = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const [from, until] of spans) {
    first ??= from;
    covered += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return first !== undefined && end > first && Number.isFinite(end) ? covered / (end - first) : 1;
}
