/**
 * Refused tries, where a reading takes them as proof that somebody held: each needs an instant at which somebody can have.
 *
 * The order of the holds is forced by their cores. Stretched as far as it goes, each hold lasts from as early as the one
 * before lets it until its release returned, or until the next grant; what lies between is a **free gap** in which certainly
 * no client held. An acquire of unknown outcome that was never released can only be the last to hold, for good, so at most
 * one of them closes the final gap: the one called earliest is as good as any.
 *
 * This is exact for one holder at a time whose order is forced. For all else it finds only what is impossible anyway: a hold
 * that takes an instant somewhere among others cuts short those that were stretched over it, several readers hold at once.
 */
import { sortNearlySorted } from '../../harness/record/facts/nearly-sorted.js';
import type { Found, Optional } from './sections.js';
import { SPAN } from './spans.js';
import { countBefore, countUpTo, type SortedSpans } from './sweep.js';
import type { KeyHistory } from './types.js';

export interface TryInGap {
  row: number;
  /** The sections around the gap; -1: there is none. */
  before: number;
  after: number;
}

export interface Tried {
  /** How many fall into free gaps, and the first of them. */
  count: number;
  inGaps: TryInGap[];
  /** Whether some are explained only by what this procedure cannot tell. */
  isOpen: boolean;
}

/** How far each hold stretches, by section. */
interface Stretched {
  fromNs: Float64Array;
  untilNs: Float64Array;
}

const NONE = -1;

/**
 * `exclusive`: whether only one holds at a time, of all clients. `timeline`: the holds as short as they can be, which for
 * leases is as they were scheduled. `most`: as many are given.
 */
export function triesInGaps(
  history: KeyHistory,
  { sections, tries, optional }: Found,
  timeline: SortedSpans,
  exclusive: boolean,
  most: number,
): Tried {
  const { callNs, returnNs } = history;
  const order = forcedOrder(timeline);
  const isExact = exclusive && order !== undefined;
  const stretched = isExact ? stretchedInOrder(timeline, order) : stretchedApart(timeline, exclusive);
  const closerFromNs = finalCloser(history, optional, timeline);
  const isCloser = ({ forGood }: Optional) => forGood && isExact;
  const maybeFromNs = optional.reduce(
    (ns, one) => (isCloser(one) ? ns : Math.min(ns, callNs[one.row]!)),
    Number.POSITIVE_INFINITY,
  );

  const byFrom = isExact ? order : byBeginning(sections.count, stretched.fromNs);
  const latest = latestSoFar(byFrom, stretched.untilNs);
  const result: Tried = { count: 0, inGaps: [], isOpen: !isExact && tries.length > 0 };
  for (const row of tries) {
    // Those that can have begun by the time the try was answered; the one of them that can have lasted longest.
    const reachable = countUpTo(byFrom, stretched.fromNs, returnNs[row]!);
    const longest = reachable === 0 ? NONE : latest[reachable - 1]!;
    if (longest !== NONE && stretched.untilNs[longest]! >= callNs[row]!) continue;
    if (returnNs[row]! >= closerFromNs) continue;
    if (returnNs[row]! >= maybeFromNs) {
      result.isOpen = true;
      continue;
    }
    result.count++;
    if (result.inGaps.length < most) result.inGaps.push({ row, before: longest, after: byFrom[reachable] ?? NONE });
  }
  return result;
}

/** The rows of the whole key with its tries in an order that explains them; only where all are, and the order is exact. */
export function orderWithTries(
  history: KeyHistory,
  { sections, tries, optional }: Found,
  timeline: SortedSpans,
): { order: Int32Array; pointsNs: Float64Array } {
  const { callNs, returnNs } = history;
  const order = forcedOrder(timeline)!;
  const { fromNs, untilNs } = stretchedInOrder(timeline, order);
  const byCall = tries.slice();
  sortNearlySorted(byCall, (a, b) => callNs[a]! - callNs[b]! || a - b);
  const length = 2 * order.length + tries.length + 1;
  const rows = new Int32Array(length);
  const pointsNs = new Float64Array(length);
  let [filled, tried] = [0, 0];
  const put = (row: number, atNs: number) => {
    rows[filled] = row;
    pointsNs[filled++] = atNs;
  };
  for (const k of order) {
    put(sections.acquire[k]!, fromNs[k]!);
    // Those that this hold was the first to refuse. What it cannot have refused is left to the closer of the final gap.
    for (; tried < byCall.length && callNs[byCall[tried]!]! <= untilNs[k]!; tried++) {
      if (returnNs[byCall[tried]!]! < fromNs[k]!) break;
      put(byCall[tried]!, Math.max(callNs[byCall[tried]!]!, fromNs[k]!));
    }
    // A lease may have ended it before its release was called.
    if (untilNs[k] !== Number.POSITIVE_INFINITY && untilNs[k]! >= sections.endCallNs[k]!)
      put(sections.endRow[k]!, untilNs[k]!);
  }
  if (tried < byCall.length) {
    const closerFromNs = finalCloser(history, optional, timeline);
    const last = order.at(-1);
    const fromEndNs = Math.max(closerFromNs, last === undefined ? closerFromNs : untilNs[last]!);
    put(closerOf(history, optional)!, fromEndNs);
    for (; tried < byCall.length; tried++) put(byCall[tried]!, Math.max(callNs[byCall[tried]!]!, fromEndNs));
  }
  return { order: rows.subarray(0, filled), pointsNs: pointsNs.subarray(0, filled) };
}

/** The sections one after another, where each comes after the one before whatever the lock did; else undefined. */
function forcedOrder({ sections, spans, begins, windows }: SortedSpans): Int32Array | undefined {
  const { fromNs, untilNs } = spans;
  if (begins.length + windows.length !== sections.count) return undefined;
  if (windows.some((k) => fromNs[k] !== untilNs[k])) return undefined;
  const all = merged(begins, windows, fromNs);
  for (let at = 1; at < all.length; at++) {
    const [one, next] = [all[at - 1]!, all[at]!];
    if (untilNs[one]! > fromNs[next]!) return undefined;
    const sameInstant = fromNs[one] === fromNs[next] && untilNs[one] === untilNs[next];
    if (sameInstant) return undefined;
  }
  return all;
}

/** Both by their beginnings; a hold of one instant before one that begins then. */
function merged(begins: Int32Array, windows: Int32Array, fromNs: Float64Array): Int32Array {
  const all = new Int32Array(begins.length + windows.length);
  for (let at = 0, begun = 0, opened = 0; at < all.length; at++) {
    const windowNext =
      opened < windows.length && (begun === begins.length || fromNs[windows[opened]!]! <= fromNs[begins[begun]!]!);
    all[at] = windowNext ? windows[opened++]! : begins[begun++]!;
  }
  return all;
}

function stretchedInOrder({ sections, spans }: SortedSpans, order: Int32Array): Stretched {
  const fromNs = new Float64Array(sections.count);
  const untilNs = new Float64Array(sections.count);
  let overNs = Number.NEGATIVE_INFINITY;
  for (const k of order) {
    fromNs[k] = Math.max(sections.callNs[k]!, overNs);
    overNs = spans.untilNs[k]!;
  }
  for (let at = 0; at < order.length; at++) {
    const next = at + 1 < order.length ? fromNs[order[at + 1]!]! : Number.POSITIVE_INFINITY;
    untilNs[order[at]!] = Math.min(sections.endReturnNs[order[at]!]!, next);
  }
  return { fromNs, untilNs };
}

/** Each by itself, cut short only by the next core that is certainly later. */
function stretchedApart({ sections, spans, begins }: SortedSpans, exclusive: boolean): Stretched {
  const fromNs = sections.callNs.slice(0, sections.count);
  const untilNs = sections.endReturnNs.slice(0, sections.count);
  if (!exclusive) return { fromNs, untilNs };
  for (const k of begins) {
    const next = countBefore(begins, spans.fromNs, spans.untilNs[k]!);
    if (next < begins.length) untilNs[k] = Math.min(untilNs[k]!, spans.fromNs[begins[next]!]!);
  }
  return { fromNs, untilNs };
}

/** From when an acquire that was never released can hold for good: after all others. */
function finalCloser(history: KeyHistory, optional: readonly Optional[], { sections, spans }: SortedSpans): number {
  const closer = closerOf(history, optional);
  if (closer === undefined) return Number.POSITIVE_INFINITY;
  let overNs = history.callNs[closer]!;
  for (let k = 0; k < sections.count; k++) {
    const isOverNs = spans.kind[k] === SPAN.core ? spans.untilNs[k]! : spans.fromNs[k]!;
    if (isOverNs > overNs) overNs = isOverNs;
  }
  return overNs;
}

function closerOf({ callNs }: KeyHistory, optional: readonly Optional[]): number | undefined {
  const forGood = optional.filter((one) => one.forGood).map(({ row }) => row);
  return forGood.length === 0 ? undefined : forGood.reduce((a, b) => (callNs[b]! < callNs[a]! ? b : a));
}

function byBeginning(count: number, fromNs: Float64Array): Int32Array {
  const all = Int32Array.from({ length: count }, (_, k) => k);
  sortNearlySorted(all, (a, b) => fromNs[a]! - fromNs[b]! || a - b);
  return all;
}

/** By place in `sorted`: which one up to there lasts longest. */
function latestSoFar(sorted: Int32Array, untilNs: Float64Array): Int32Array {
  let latest = NONE;
  return sorted.map((k) => {
    if (latest === NONE || untilNs[k]! >= untilNs[latest]!) latest = k;
    return latest;
  });
}
