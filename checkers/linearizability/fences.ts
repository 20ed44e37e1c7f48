/**
 * Fencing tokens must rise in the order in which grants took effect. That order is forced wherever one core was over before
 * another began; and, whatever held when, wherever one grant had been answered before another was asked for.
 */

import { firstIndex } from '../../harness/record/facts/first-index.js';
import { sortNearlySorted } from '../../harness/record/facts/nearly-sorted.js';
import { Ranks } from '../../harness/record/facts/ranks.js';
import type { Operations } from '../../harness/vocabulary/history.js';
import type { Sections } from './sections.js';
import type { SortedSpans } from './sweep.js';

export interface Inversion {
  /** Its core was over when the other began. */
  earlier: number;
  /** The later one, which got no higher token. */
  later: number;
  fromNs: number;
  untilNs: number;
}

export interface Inversions {
  /** Grants whose token is no higher than that of one before them in the forced order of the cores. */
  count: number;
  /** Grants whose token is no higher than one that had been answered before their call: they need no argument about holding. */
  answeredBeforeCall: number;
  /** At most as many as were asked for; of each later grant the earlier one with the highest token. */
  earliest: Inversion[];
}

/**
 * `most`: as many are given, in the order in which the later grants were answered. `coresOverlap`: whether some do; only
 * then can grants that were answered before a call be out of the forced order.
 */
export function inversionsOf(
  timeline: SortedSpans,
  operations: Operations,
  coresOverlap: boolean,
  most: number,
): Inversions {
  const { sections } = timeline;
  const token = Float64Array.from({ length: sections.count }, (_, k) => operations.token[sections.acquire[k]!]!);
  const visits = forcedOrder(timeline);
  const inOrder = risesAll(visits, token);
  if (inOrder && !coresOverlap) return { count: 0, answeredBeforeCall: 0, earliest: [] };

  const ranks = ranksOf(token);
  return {
    ...(inOrder ? { count: 0, earliest: [] } : inForcedOrder(timeline, visits, token, ranks, most)),
    answeredBeforeCall: countAnsweredBefore(sections, token, ranks),
  };
}

function inForcedOrder(
  timeline: SortedSpans,
  visits: Int32Array,
  token: Float64Array,
  ranks: Int32Array,
  most: number,
): Pick<Inversions, 'count' | 'earliest'> {
  const over = new Ranks(ranks.length);
  const earliest: Inversion[] = [];
  let count = 0;
  let highest = -1;
  for (const visit of visits) {
    const k = visit >= 0 ? visit : ~visit;
    if (ranks[k] === NO_TOKEN) continue;
    if (visit < 0) {
      over.add(ranks[k]!);
      if (highest < 0 || token[k]! > token[highest]!) highest = k;
      continue;
    }
    const notLower = over.notBelow(ranks[k]!);
    if (notLower === 0) continue;
    count++;
    if (earliest.length < most) earliest.push(inversion(timeline, highest, k));
  }
  return { count, earliest };
}

function inversion({ sections, spans }: SortedSpans, earlier: number, later: number): Inversion {
  return { earlier, later, fromNs: spans.fromNs[earlier]!, untilNs: sections.returnNs[later]! };
}

/**
 * Where each core of a known grant begins (k) and is over (~k), in order of time: ends before beginnings of the same instant,
 * and holds of that instant alone between them. Of several such, which any order explains, those with lower tokens first;
 * two with the same token are an inversion in any order.
 */
function forcedOrder({ begins, ends, windows, sections, spans }: SortedSpans): Int32Array {
  const { fromNs, untilNs } = spans;
  const instants = windows.filter((k) => sections.returnNs[k] !== Number.POSITIVE_INFINITY && fromNs[k] === untilNs[k]);
  const visits = new Int32Array(begins.length + ends.length + 2 * instants.length);
  let [begun, ended, visited, filled] = [0, 0, 0, 0];
  while (begun < begins.length || visited < instants.length) {
    const beginNs = begun < begins.length ? fromNs[begins[begun]!]! : Number.POSITIVE_INFINITY;
    const instantNs = visited < instants.length ? fromNs[instants[visited]!]! : Number.POSITIVE_INFINITY;
    const nextNs = Math.min(beginNs, instantNs);
    while (ended < ends.length && untilNs[ends[ended]!]! <= nextNs) visits[filled++] = ~ends[ended++]!;
    if (instantNs <= beginNs) {
      visits[filled++] = instants[visited]!;
      visits[filled++] = ~instants[visited++]!;
    } else {
      visits[filled++] = begins[begun++]!;
    }
  }
  return visits.subarray(0, filled);
}

/** The common case, in one pass: each token is higher than all that were over before. */
function risesAll(visits: Int32Array, token: Float64Array): boolean {
  let highest = Number.NEGATIVE_INFINITY;
  for (const visit of visits) {
    const one = token[visit >= 0 ? visit : ~visit]!;
    if (visit < 0) highest = one > highest ? one : highest;
    else if (one <= highest) return false;
  }
  return true;
}

/** How many B have some A with return(A) < call(B) and token(A) ≥ token(B). */
function countAnsweredBefore({ count, callNs, returnNs }: Sections, token: Float64Array, ranks: Int32Array): number {
  const all = Int32Array.from({ length: count }, (_, k) => k).filter((k) => !Number.isNaN(token[k]!));
  const byReturn = all.filter((k) => returnNs[k] !== Number.POSITIVE_INFINITY);
  sortNearlySorted(byReturn, (a, b) => returnNs[a]! - returnNs[b]!);
  sortNearlySorted(all, (a, b) => callNs[a]! - callNs[b]!);
  const answered = new Ranks(count);
  let [next, found] = [0, 0];
  for (const k of all) {
    for (; next < byReturn.length && returnNs[byReturn[next]!]! < callNs[k]!; next++)
      answered.add(ranks[byReturn[next]!]!);
    if (answered.notBelow(ranks[k]!) > 0) found++;
  }
  return found;
}

const NO_TOKEN = -1;

/** By section: how many tokens are lower than its own. */
function ranksOf(token: Float64Array): Int32Array {
  const sorted = token.filter((one) => !Number.isNaN(one)).sort();
  return Int32Array.from(token, (one) => {
    if (Number.isNaN(one)) return NO_TOKEN;
    return firstIndex(sorted.length, (at) => sorted[at]! >= one);
  });
}
