/**
 * When each section certainly held: its **core**, from the acquire's return until the release's call, without its bounds;
 * or, where the hold may have been as short as nothing, a **window** in which it needs one instant, bounds included.
 *
 * Holds that are as short as they can be exclude nothing that longer ones would not exclude, so these are what is
 * asked to be apart. (After Gibbons and Korach, "Testing shared memories", 1997: forward and backward zones.)
 */

import { sortNearlySorted } from '../../harness/record/facts/nearly-sorted.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Sections } from './sections.js';

export const SPAN = {
  /** Held throughout (fromNs, untilNs). */
  core: 0,
  /** Held at one instant of [fromNs, untilNs] at least. */
  window: 1,
  /** A lease shorter than its acquire took: it held for as long as that somewhere within, which no rule here tells of. */
  adrift: 2,
} as const;

/** By section. */
export interface Spans {
  readonly kind: Uint8Array;
  readonly fromNs: Float64Array;
  readonly untilNs: Float64Array;
  /**
   * Of a write lock the own read lock that its client got in the nanosecond in which it asked for this one, or -1: it is not
   * known which of them came first. Only where there is such.
   */
  ownRead?: Int32Array;
}

/**
 * The certain spans of all sections. An unknown acquire whose release [r, r'] succeeded was over by r' and not yet over at r,
 * and may have been granted in between: its window is [r, r']. A hold that was released in the nanosecond of its grant has a
 * window of one instant.
 */
export function certainSpans(sections: Sections, model: LockModel): Spans {
  const spans = asAnswered(sections);
  if (model.kind === 'read-write') writersBeforeOwnReaders(sections, spans);
  return spans;
}

function asAnswered(sections: Sections): Spans {
  const { count, callNs, returnNs, endCallNs, endReturnNs, endKnown, leaseNs } = sections;
  const kind = new Uint8Array(count);
  const fromNs = new Float64Array(count);
  const untilNs = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    const grantedNs = returnNs[k]!;
    const leaseEndNs = callNs[k]! + leaseNs[k]!;
    const endNs = Math.min(endCallNs[k]!, leaseEndNs);
    if (grantedNs < endNs) {
      fromNs[k] = grantedNs;
      untilNs[k] = endNs;
    } else if (endKnown[k] || leaseEndNs >= endCallNs[k]!) {
      kind[k] = SPAN.window;
      fromNs[k] = Math.max(callNs[k]!, endCallNs[k]!);
      untilNs[k] = Math.min(grantedNs, endReturnNs[k]!);
    } else {
      kind[k] = SPAN.adrift;
    }
  }
  return { kind, fromNs, untilNs };
}

/**
 * A client may read under its own write lock, but is not granted the write lock while it reads. Where its read was answered
 * in the very nanosecond in which it asked for the write lock, and it kept both, it must have had the write lock first:
 * from that nanosecond on.
 */
function writersBeforeOwnReaders({ count, client, reads, callNs, returnNs }: Sections, spans: Spans): void {
  const { kind, fromNs, untilNs } = spans;
  const last = new Map<number, number>();
  const previous = new Int32Array(count);
  for (let k = 0; k < count; k++) {
    previous[k] = last.get(client[k]!) ?? -1;
    last.set(client[k]!, k);
    if (reads[k]) continue;
    for (let j = previous[k]!; j >= 0 && returnNs[j]! >= callNs[k]!; j = previous[j]!) {
      if (!reads[j]) continue;
      spans.ownRead ??= new Int32Array(count).fill(-1);
      const both =
        kind[k] === SPAN.core && kind[j] === SPAN.core && untilNs[j]! > fromNs[k]! && fromNs[j]! < fromNs[k]!;
      if (both) fromNs[k] = fromNs[j]!;
      if (both || spans.ownRead[k] === -1) spans.ownRead[k] = j;
    }
  }
}

/** Sections of these kinds, in the order of `atNs`; `tie` decides between equal ones, and then the earlier call. */
export function inOrder(
  kind: Uint8Array,
  wanted: (kind: number) => boolean,
  atNs: Float64Array,
  tie: (a: number, b: number) => number = () => 0,
): Int32Array {
  const all = new Int32Array(kind.length);
  let count = 0;
  for (let k = 0; k < kind.length; k++) if (wanted(kind[k]!) && atNs[k] !== Number.POSITIVE_INFINITY) all[count++] = k;
  const found = all.subarray(0, count);
  sortNearlySorted(found, (a, b) => atNs[a]! - atNs[b]! || tie(a, b) || a - b);
  return found;
}
