/**
 * What of a long run is drawn by itself, and what is drawn together. Whatever happened around a violation or a record of a
 * fault is kept; of the rest, neighbours in a lane become one as far as it takes to keep the page small.
 */

import { durationOfMs, plural } from '../../harness/record/facts/words.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';

/** Operations that are drawn one by one, without asking which. */
const MOST_DRAWN_SINGLY = 150_000;
/** Of a longer run: what is kept, and what the rest is brought down to. */
const MOST_KEPT = 60_000;
const MOST_DRAWN_TOGETHER = 40_000;
/** Around each violation and each blow of a fault: as much as there is room for. */
const AROUND_MS = [1_000, 500, 200, 100, 50, 20, 5];

export interface Keeping {
  /** True where an operation of that time is to be drawn by itself. */
  keeps(fromNs: number, untilNs: number): boolean;
  /** So many neighbours in a lane are drawn as one, of those that are not kept. */
  together: number;
  /** For people; undefined where everything is drawn by itself. */
  note: string | undefined;
}

export function keepingOf({ history, holds, results }: ReportInput, mostSingly = MOST_DRAWN_SINGLY): Keeping {
  const count = history.operations.count;
  if (count <= mostSingly) return { keeps: () => true, together: 1, note: undefined };
  const mostNs = MOST_KEPT / (count / Math.max(1, history.endNs));
  const aroundMs = AROUND_MS.find((ms) => lengthOf(windowsAround(ms, history, results)) <= mostNs) ?? 0;
  const windows = aroundMs === 0 ? [] : windowsAround(aroundMs, history, results);
  const together = Math.max(2, Math.ceil((holds.count + count) / MOST_DRAWN_TOGETHER));
  return {
    keeps: (fromNs, untilNs) => isIn(windows, fromNs, untilNs),
    together,
    note: `this run has ${plural(count, 'operation')}: ${aroundMs === 0 ? 'too many' : `those within ${durationOfMs(aroundMs)} of a violation or of a fault’s blow are drawn one by one; of the others`} up to ${together} neighbours are drawn as one`,
  };
}

type Window = readonly [fromNs: number, untilNs: number];

function windowsAround(ms: number, history: History, results: Results): Window[] {
  const aroundNs = ms * 1e6;
  const violated = results.violations.map(({ fromNs, untilNs }): Window => [fromNs - aroundNs, untilNs + aroundNs]);
  const struck = history.rare.flatMap((event): Window[] =>
    event.type === 'fault' ? [[event.atNs - aroundNs, event.atNs + aroundNs]] : [],
  );
  return merged([...violated, ...struck]);
}

function lengthOf(windows: readonly Window[]): number {
  return windows.reduce((sum, [fromNs, untilNs]) => sum + (untilNs - fromNs), 0);
}

/** In order, without overlaps. */
function merged(windows: readonly Window[]): Window[] {
  const out: [number, number][] = [];
  for (const [fromNs, untilNs] of [...windows].sort(([a], [b]) => a - b)) {
    const last = out.at(-1);
    if (last !== undefined && fromNs <= last[1]) last[1] = Math.max(last[1], untilNs);
    else out.push([fromNs, untilNs]);
  }
  return out;
}

function isIn(windows: readonly Window[], fromNs: number, untilNs: number): boolean {
  let [low, high] = [0, windows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (windows[middle]![1] < fromNs) low = middle + 1;
    else high = middle;
  }
  const window = windows[low];
  return window !== undefined && window[0] <= untilNs;
}
