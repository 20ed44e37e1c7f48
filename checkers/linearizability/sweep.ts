/**
 * One pass over the spans of a key in the order of time: counts those that another one excludes, finds an instant for every
 * window that has one, and writes down the order that results. What is free at an instant is known after all ends at it and
 * before all beginnings: equal stamps count as concurrent, so a hold that ends at 5 s makes room for one that begins at 5 s.
 *
 * Windows do not stand in each other's way: each takes an instant for a hold of no length, one after another.
 */

import { firstIndex } from '../../harness/record/facts/first-index.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { Occupancy } from './occupancy.js';
import type { Sections } from './sections.js';
import { inOrder, SPAN, type Spans } from './spans.js';

export interface Swept {
  /** Cores that began when another one excluded them; of a semaphore, when all permits were held. Each once, whatever held. */
  overlaps: number;
  /** Cores that began when their own client held as often as a reentrant lock allows. */
  tooDeep: number;
  /** Windows without a free instant. */
  unplaced: number[];
  /** Those of them that might find one if another hold of the same client lasted longer than it must. */
  doubtful: number[];
  /** 1 for a core that began when another excluded it. Only where there are such. */
  beganExcluded: Uint8Array | undefined;
  /** Sections at their beginnings (k) and ends (~k), in order, and when. */
  moments: Moments;
}

export interface Moments {
  count: number;
  /** k where section k began, ~k where it ended. */
  section: Int32Array;
  atNs: Float64Array;
}

/** The spans of a key, sorted once for all that goes through them. */
export class SortedSpans {
  /** Cores by their beginnings, those that end by their ends, and windows by their first instants. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly windows: Int32Array;

  /** `token`: windows of one instant are visited in the order of these, where equal stamps leave it open. */
  constructor(
    readonly sections: Sections,
    readonly spans: Spans,
    token?: (k: number) => number,
  ) {
    const { kind, fromNs, untilNs } = spans;
    const isCore = (one: number) => one === SPAN.core;
    // The write lock of a client goes before its read locks of the same instant, which it allows.
    const writersFirst = (a: number, b: number) => sections.reads[a]! - sections.reads[b]!;
    this.begins = inOrder(kind, isCore, fromNs, writersFirst);
    this.ends = inOrder(kind, isCore, untilNs);
    const byToken = token && ((a: number, b: number) => token(a) - token(b));
    this.windows = inOrder(kind, (one) => one === SPAN.window, fromNs, byToken);
  }

  /** Cores that hold at some instant of [fromNs, untilNs], bounds included, and not only begin or end there. */
  touching(fromNs: number, untilNs: number): number[] {
    const { begins, spans } = this;
    this.latestUntilNs ??= latestSoFar(begins, spans.untilNs);
    let at = countBefore(begins, spans.fromNs, untilNs) - 1;
    const found: number[] = [];
    for (; at >= 0 && this.latestUntilNs[at]! > fromNs; at--)
      if (spans.untilNs[begins[at]!]! > fromNs) found.push(begins[at]!);
    return found.reverse();
  }

  /** By place in `begins`: until when this one or one before it holds. */
  private latestUntilNs: Float64Array | undefined;
}

export function sweep(
  { sections, spans, begins, ends, windows }: SortedSpans,
  model: LockModel,
  clients: number,
): Swept {
  const { fromNs, untilNs } = spans;
  const held = new Occupancy(model, sections, clients);
  const moments = emptyMoments(2 * (begins.length + windows.length));
  const waiting: number[] = [];
  const doubtful = new Set<number>();
  const result: Swept = { overlaps: 0, tooDeep: 0, unplaced: [], doubtful: [], beganExcluded: undefined, moments };

  const place = (nowNs: number) => {
    let left = 0;
    for (const k of waiting) {
      if (untilNs[k]! < nowNs) {
        result.unplaced.push(k);
      } else if (held.excluding(k) > 0 || held.isTooDeep(k)) {
        if (held.holdsOtherwise(k)) doubtful.add(k);
        waiting[left++] = k;
      } else {
        note(moments, k, nowNs);
        note(moments, ~k, nowNs);
      }
    }
    waiting.length = left;
  };

  let [begun, ended, opened] = [0, 0, 0];
  while (begun < begins.length || ended < ends.length || opened < windows.length) {
    const beginNs = begun < begins.length ? fromNs[begins[begun]!]! : Number.POSITIVE_INFINITY;
    const endNs = ended < ends.length ? untilNs[ends[ended]!]! : Number.POSITIVE_INFINITY;
    const openNs = opened < windows.length ? fromNs[windows[opened]!]! : Number.POSITIVE_INFINITY;
    if (endNs <= beginNs && endNs <= openNs) {
      const k = ends[ended++]!;
      held.remove(k);
      note(moments, ~k, endNs);
      // Not before all that end now have ended: a window must not seem blocked, nor be placed before its time.
      const nextEndNs = ended < ends.length ? untilNs[ends[ended]!]! : Number.POSITIVE_INFINITY;
      if (waiting.length > 0 && nextEndNs > endNs) place(endNs);
    } else if (openNs <= beginNs) {
      waiting.push(windows[opened++]!);
      place(openNs);
    } else {
      const k = begins[begun++]!;
      if (held.excluding(k) > 0) {
        result.overlaps++;
        result.beganExcluded ??= new Uint8Array(sections.count);
        result.beganExcluded[k] = 1;
      }
      if (held.isTooDeep(k)) result.tooDeep++;
      held.add(k);
      note(moments, k, beginNs);
    }
  }
  place(Number.POSITIVE_INFINITY);
  for (const k of waiting) result.unplaced.push(k);
  result.doubtful = result.unplaced.filter((k) => doubtful.has(k));
  return result;
}

function emptyMoments(length: number): Moments {
  return { count: 0, section: new Int32Array(length), atNs: new Float64Array(length) };
}

function note(moments: Moments, section: number, atNs: number): void {
  moments.section[moments.count] = section;
  moments.atNs[moments.count++] = atNs;
}

function latestSoFar(begins: Int32Array, untilNs: Float64Array): Float64Array {
  let latestNs = Number.NEGATIVE_INFINITY;
  return Float64Array.from(begins, (k) => {
    latestNs = Math.max(latestNs, untilNs[k]!);
    return latestNs;
  });
}

/** How many of the sorted sections are before `bound`. */
export function countBefore(sorted: Int32Array, atNs: Float64Array, bound: number): number {
  return firstIndex(sorted.length, (at) => atNs[sorted[at]!]! >= bound);
}

export function countUpTo(sorted: Int32Array, atNs: Float64Array, bound: number): number {
  return firstIndex(sorted.length, (at) => atNs[sorted[at]!]! > bound);
}
