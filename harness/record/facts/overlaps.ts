/**
 * Finds every pair of holds in which a lock was held by more than it may be at once, and of which class it is. Exact on the
 * holds that it is given; decides nothing about causes, clocks or doubts.
 *
 * Cost: O(n log n) for n holds, plus the number of pairs whose holds overlap at all; memory for the holds of one moment.
 */
import assert from 'node:assert/strict';
import type { LockModel } from '../../vocabulary/protocol.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { byKey, sortedBy } from './by-key.js';
import type { Holds } from './holds.js';
import { leaseMarginNs } from './margin.js';

interface Together {
  /** The one whose grant reached its client first, or of several (permits) the one of them that ended first. */
  first: Hold;
  /** The one that was granted although it should not have been. */
  second: Hold;
  /** Where N permits are: the other N−1 that held then. */
  others: Hold[];
  /** When it became true, and when it stopped to be. */
  fromNs: number;
  untilNs: number;
}

/**
 * - `exclusion`: all leases certainly ran during [fromNs, untilNs);
 * - `stale`: they overlapped only because `stale` acted on after its lease had ended, as it did during [fromNs, untilNs).
 */
export type Overlap = Together & ({ class: 'exclusion' } | { class: 'stale'; stale: Hold });

/** An overlap by the numbers of its holds. `stale` is -1 where exclusion was broken. */
export interface OverlapFound {
  first: number;
  second: number;
  others: readonly number[];
  stale: number;
  fromNs: number;
  untilNs: number;
}

type HoldColumns = Pick<
  Holds,
  'count' | 'hold' | 'row' | 'client' | 'key' | 'shares' | 'fromNs' | 'untilNs' | 'leaseEndNs' | 'leaseMs'
>;

/** Calls `found` for every overlap, key by key, and for each key in the order in which the second hold began. */
export function forEachOverlap(holds: HoldColumns, model: LockModel, found: (overlap: OverlapFound) => void): void {
  for (const ofKey of provenByKey(holds)) sweep(ofKey, holds, model, found);
}

/** The overlaps of a few holds, earliest first by the instant at which each became true. */
export function overlapsOf(holds: readonly Hold[], model: LockModel): Overlap[] {
  const overlaps: Overlap[] = [];
  const columns = columnsOf(holds);
  forEachOverlap(columns, model, (found) => overlaps.push(overlapWith(columns, found)));
  return overlaps.sort(
    (a, b) => a.fromNs - b.fromNs || a.untilNs - b.untilNs || a.second.evidence[0]! - b.second.evidence[0]!,
  );
}

function columnsOf(holds: readonly Hold[]): HoldColumns {
  const numbers = (texts: readonly string[]) => {
    const known = [...new Set(texts)];
    return Int32Array.from(texts, (text) => known.indexOf(text));
  };
  return {
    count: holds.length,
    hold: (k) => holds[k]!,
    row: Int32Array.from(holds, ({ evidence }, k) => evidence[0] ?? k),
    client: numbers(holds.map(({ client }) => client)),
    key: numbers(holds.map(({ key }) => key)),
    shares: Uint8Array.from(holds, ({ mode }) => (mode === 'read' ? 1 : 0)),
    fromNs: Float64Array.from(holds, ({ fromNs }) => fromNs),
    untilNs: Float64Array.from(holds, ({ untilNs }) => untilNs),
    leaseEndNs: Float64Array.from(holds, ({ leaseEndNs }) => leaseEndNs),
    leaseMs: Float64Array.from(holds, ({ leaseMs }) => leaseMs),
  };
}

/** The overlap with its holds, for people. */
export function overlapWith(
  holds: Pick<Holds, 'hold'>,
  { first, second, others, stale, fromNs, untilNs }: OverlapFound,
): Overlap {
  const [a, b] = [holds.hold(first), holds.hold(second)];
  const together = { first: a, second: b, others: others.map((k) => holds.hold(k)), fromNs, untilNs };
  if (stale < 0) return { class: 'exclusion', ...together };
  const staleHold = [a, b, ...together.others][[first, second, ...others].indexOf(stale)]!;
  return { class: 'stale', stale: staleHold, ...together };
}

/** The numbers of the holds of each key that prove anything, in the order in which they began. */
function provenByKey(holds: HoldColumns): Int32Array[] {
  const { fromNs, untilNs, row } = holds;
  const keys = holds.key.reduce((most, key) => Math.max(most, key + 1), 0);
  const began = (a: number, b: number) => fromNs[a]! - fromNs[b]! || untilNs[a]! - untilNs[b]! || row[a]! - row[b]!;
  return byKey(holds.key, holds.count, keys, (k) => proves(holds, k)).map((ofKey) => sortedBy(ofKey, began));
}

function proves({ fromNs, untilNs }: HoldColumns, k: number): boolean {
  return untilNs[k]! > fromNs[k]!;
}

/** Meets holds in the order in which they began; those that have not ended by then overlap the new one. */
function sweep(ofKey: Int32Array, holds: HoldColumns, model: LockModel, found: (overlap: OverlapFound) => void): void {
  const running: number[] = [];
  for (const second of ofKey) {
    let left = 0;
    // Equal stamps do not overlap: one may have ended just before the other began.
    for (const k of running) if (holds.untilNs[k]! > holds.fromNs[second]!) running[left++] = k;
    running.length = left;
    if (model.kind === 'semaphore') tooMany(running, second, holds, model.permits, found);
    else for (const first of running) if (excludes(first, second, holds, model)) classify(first, second, holds, found);
    running.push(second);
  }
}

/** Whether the lock must not be held by both at once. */
function excludes(first: number, second: number, holds: HoldColumns, model: LockModel): boolean {
  const { client, shares } = holds;
  const sameClient = client[first] === client[second];
  if (model.kind === 'reentrant' || model.kind === 'read-write') {
    if (sameClient) return false;
    return model.kind === 'reentrant' || !(shares[first] && shares[second]);
  }
  if (sameClient) {
    const [a, b] = [holds.hold(first), holds.hold(second)];
    assert.fail(
      `bug in the harness: ${a.client} was led to hold ${a.key} twice at once (acquires ${a.id} and ${b.id})`,
    );
  }
  return true;
}

/** Tells of which class an overlap of two holds is; nothing where nobody can be accused of it. `first` began first. */
function classify(first: number, second: number, holds: HoldColumns, found: (overlap: OverlapFound) => void): void {
  const fromNs = holds.fromNs[second]!;
  const leasedUntilNs = leasedTogetherUntilNs(holds, first, second);
  if (fromNs < leasedUntilNs) {
    found({ first, second, others: [], stale: -1, fromNs, untilNs: leasedUntilNs });
    return;
  }
  const acted = actedTogether(holds, [first, second], fromNs);
  if (acted) found({ first, second, others: [], ...acted });
}

/**
 * Since when and until when all of these acted as holders from `fromNs` on, and whose lease was over first; undefined where they
 * did not for certain, or where no lease was over.
 *
 * Who stops acting about when its lease ends did no wrong, and a server may have let in the next one a little early: within the margin
 * of its lease nobody is stale (margin.ts). Who went on for longer than that acted past its lease, from the lease's end.
 */
function actedTogether(
  holds: HoldColumns,
  all: readonly number[],
  fromNs: number,
): Pick<OverlapFound, 'stale' | 'fromNs' | 'untilNs'> | undefined {
  const untilNs = Math.min(...all.map((k) => actedUntilNs(holds, k)));
  const isOver = (k: number, ns: number) => certainLeaseEndNs(holds, k) <= ns;
  let sinceNs = fromNs;
  for (let latestNs = Number.NEGATIVE_INFINITY; latestNs < sinceNs; ) {
    latestNs = sinceNs;
    for (const k of all) if (isOver(k, sinceNs)) sinceNs = Math.max(sinceNs, holds.leaseEndNs[k]!);
  }
  if (sinceNs >= untilNs) return undefined;
  const over = all.filter((k) => isOver(k, sinceNs));
  if (over.length === 0) return undefined;
  const stale = over.reduce((a, b) => (holds.leaseEndNs[a]! <= holds.leaseEndNs[b]! ? a : b));
  return { stale, fromNs: sinceNs, untilNs };
}

/** Until when its client acted as a holder, be it past its lease; who did not for longer than the margin, while that certainly ran. */
function actedUntilNs(holds: HoldColumns, k: number): number {
  const { untilNs, leaseEndNs, leaseMs } = holds;
  const isOverstayed = untilNs[k]! - leaseEndNs[k]! > leaseMarginNs(leaseMs[k]!);
  return isOverstayed ? untilNs[k]! : Math.min(untilNs[k]!, certainLeaseEndNs(holds, k));
}

/** Whether two holds, whichever came first, are broken exclusion: both were held while both leases certainly ran. */
export function leasesOverlap(holds: HoldColumns, a: number, b: number): boolean {
  return Math.max(holds.fromNs[a]!, holds.fromNs[b]!) < leasedTogetherUntilNs(holds, a, b);
}

function leasedTogetherUntilNs(holds: HoldColumns, a: number, b: number): number {
  return Math.min(holds.untilNs[a]!, holds.untilNs[b]!, certainLeaseEndNs(holds, a), certainLeaseEndNs(holds, b));
}

/** One overlap for each hold that came when all permits were held. */
function tooMany(
  running: readonly number[],
  second: number,
  holds: HoldColumns,
  permits: number,
  found: (overlap: OverlapFound) => void,
): void {
  if (running.length < permits) return;
  const fromNs = holds.fromNs[second]!;
  /** Those `permits` that go on for longest by this measure, and until when all of them and the second do. */
  const longest = (endNs: (k: number) => number) => {
    const chosen = [...running]
      .sort((a, b) => endNs(b) - endNs(a))
      .slice(0, permits)
      .reverse();
    return { chosen, untilNs: Math.min(endNs(second), ...chosen.map(endNs)) };
  };
  const leased = longest((k) => Math.min(holds.untilNs[k]!, certainLeaseEndNs(holds, k)));
  if (fromNs < leased.untilNs) {
    const [first, ...others] = leased.chosen;
    found({ first: first!, second, others, stale: -1, fromNs, untilNs: leased.untilNs });
    return;
  }
  const { chosen } = longest((k) => actedUntilNs(holds, k));
  const acted = actedTogether(holds, [...chosen, second], fromNs);
  const [first, ...others] = chosen;
  if (acted) found({ first: first!, second, others, ...acted });
}

/** Until when no server can have thought the lease over. */
function certainLeaseEndNs({ leaseEndNs, leaseMs }: HoldColumns, k: number): number {
  return leaseEndNs[k]! - leaseMarginNs(leaseMs[k]!);
}
