/**
 * Which cores overlap that must not, the earliest first: each with one of those that were granted before it. How many there
 * are is counted by the sweep.
 */
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { exclude } from './occupancy.js';
import type { SortedSpans } from './sweep.js';

export interface Together {
  /** In the order of their grants. */
  sections: number[];
  fromNs: number;
  /** Infinity where none of them was released. */
  untilNs: number;
  /** Whether one client held a reentrant lock more often than it may. */
  tooDeep: boolean;
}

/** At most `most`, in the order in which they were over; `tooDeep`: whether a reentrant lock was taken too often. */
export function overlappingSections(
  timeline: SortedSpans,
  model: LockModel,
  tooDeep: boolean,
  most: number,
): Together[] {
  if (most === 0) return [];
  if (model.kind === 'semaphore') return crowds(timeline, model.permits, () => true, false, most);
  const pairs = pairsOf(timeline, model, most);
  if (model.kind !== 'reentrant' || !tooDeep) return pairs;
  const { client } = timeline.sections;
  const nested = crowds(timeline, model.depth, (a, b) => client[a] === client[b], true, most);
  return [...pairs, ...nested].sort((a, b) => a.untilNs - b.untilNs || a.fromNs - b.fromNs).slice(0, most);
}

/** Pairs, found when the first of the two ends: of each core the one in which it is the later one. */
function pairsOf({ sections, spans, begins, ends }: SortedSpans, model: LockModel, most: number): Together[] {
  const { fromNs, untilNs } = spans;
  const pairs: Together[] = [];
  const running = new Running(sections.count);
  const isTold = new Uint8Array(sections.count);
  const pairUp = (k: number) => {
    for (let other = running.first; other >= 0 && pairs.length < most; other = running.after(other)) {
      if (other === k) continue;
      const inOrder = comesFirst(k, other, fromNs, sections.reads) ? [k, other] : [other, k];
      if (isTold[inOrder[1]!] || !exclude(model, sections, inOrder[0]!, inOrder[1]!)) continue;
      isTold[inOrder[1]!] = 1;
      const from = Math.max(fromNs[k]!, fromNs[other]!);
      pairs.push({ sections: inOrder, fromNs: from, untilNs: Math.min(untilNs[k]!, untilNs[other]!), tooDeep: false });
    }
  };
  let begun = 0;
  for (const k of ends) {
    for (; begun < begins.length && fromNs[begins[begun]!]! < untilNs[k]!; begun++) running.add(begins[begun]!);
    pairUp(k);
    running.remove(k);
    if (pairs.length >= most) return pairs;
  }
  for (; begun < begins.length; begun++) running.add(begins[begun]!);
  for (const k of begins) {
    if (untilNs[k] !== Number.POSITIVE_INFINITY || pairs.length >= most) continue;
    pairUp(k);
    running.remove(k);
  }
  return pairs;
}

/** A writer goes before its own reads of the same instant, which it allows. */
function comesFirst(a: number, b: number, fromNs: Float64Array, reads: Uint8Array): boolean {
  return (fromNs[a]! - fromNs[b]! || reads[a]! - reads[b]! || a - b) < 0;
}

/**
 * Each core that began when `allowed` of its kind were held, with as many of those as were: the ones that lasted longest.
 * Only the first so many are looked at: which of them was over first is decided among these.
 */
function crowds(
  { spans, begins }: SortedSpans,
  allowed: number,
  together: (a: number, b: number) => boolean,
  tooDeep: boolean,
  most: number,
): Together[] {
  const { fromNs, untilNs } = spans;
  const found: Together[] = [];
  let running: number[] = [];
  for (const k of begins) {
    if (found.length >= 4 * most) break;
    running = running.filter((other) => untilNs[other]! > fromNs[k]!);
    const others = running.filter((other) => together(other, k));
    if (others.length >= allowed) {
      const longest = others.sort((a, b) => untilNs[b]! - untilNs[a]! || 0).slice(0, allowed);
      const all = [...longest, k].sort((a, b) => fromNs[a]! - fromNs[b]! || a - b);
      const until = Math.min(...all.map((one) => untilNs[one]!));
      found.push({ sections: all, fromNs: fromNs[k]!, untilNs: until, tooDeep });
    }
    running.push(k);
  }
  return found.sort((a, b) => a.untilNs - b.untilNs || a.fromNs - b.fromNs || 0).slice(0, most);
}

/**
 * Cores that leave a window [fromNs, untilNs] no instant: each chosen so that it reaches furthest from where the one before
 * ended. Of a semaphore all that touch the window, as it takes several at once.
 */
export function coverOf(timeline: SortedSpans, model: LockModel, window: number): number[] {
  const { sections, spans } = timeline;
  const { fromNs, untilNs } = spans;
  const touching = timeline.touching(fromNs[window]!, untilNs[window]!);
  if (model.kind === 'semaphore') return touching;
  const excluding = touching.filter((k) => exclude(model, sections, k, window));
  const cover: number[] = [];
  for (let freeNs = fromNs[window]!; freeNs <= untilNs[window]!; ) {
    let furthest = -1;
    for (const k of excluding)
      if (fromNs[k]! < freeNs && untilNs[k]! > (furthest < 0 ? freeNs : untilNs[furthest]!)) furthest = k;
    // Free of others: then it is a reentrant lock that its client had already taken as often as it may.
    if (furthest < 0) return touching;
    cover.push(furthest);
    freeNs = untilNs[furthest]!;
  }
  return cover;
}

/** The cores that are held at a moment of a sweep: each taken out at no cost. */
class Running {
  first = -1;
  private readonly next: Int32Array;
  private readonly previous: Int32Array;

  constructor(count: number) {
    this.next = new Int32Array(count);
    this.previous = new Int32Array(count);
  }

  after(k: number): number {
    return this.next[k]!;
  }

  add(k: number): void {
    this.next[k] = this.first;
    this.previous[k] = -1;
    if (this.first >= 0) this.previous[this.first] = k;
    this.first = k;
  }

  remove(k: number): void {
    const [before, after] = [this.previous[k]!, this.next[k]!];
    if (before >= 0) this.next[before] = after;
    else this.first = after;
    if (after >= 0) this.previous[after] = before;
  }
}
