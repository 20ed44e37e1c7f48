/**
 * From a run's history to one `KeyHistory` per key: when each acquire and release can have taken effect, and how long each
 * lease certainly ran.
 *
 * Every bound is drawn so that it excludes nothing that can have happened: an interval is never too short, a lease never too
 * long. What a lease lacks for certainty is lost to the accusation, never to the lock.
 */

import { byKey } from '../../harness/record/facts/by-key.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { attemptSentNs, trustedClients } from '../../harness/record/facts/operations.js';
import { NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, Notices, Operations } from '../../harness/vocabulary/history.js';
import { isUnknown } from './models/answers.js';
import type { KeyHistory } from './types.js';

/** One for each key that has an acquire or a release, in the order in which keys were first used. They share their columns. */
export function keyHistoriesOf(history: History): KeyHistory[] {
  const { operations } = history;
  const { callNs, returnNs: answeredNs } = intervalsOf(history);
  // One that was not heard of may take effect at any later time, also after the client had given up on it.
  const returnNs = answeredNs.map((ns, row) => (isUnknown(operations, row) ? Number.POSITIVE_INFINITY : ns));
  const leaseNs = certainLeases(history, callNs, returnNs);
  return byKey(operations.key, operations.count, operations.keys.length, (row) => isLockOp(operations, row)).flatMap(
    (rows, key) =>
      rows.length === 0 ? [] : [{ key: operations.keys[key]!, operations, rows, callNs, returnNs, leaseNs }],
  );
}

function isLockOp({ op }: Operations, row: number): boolean {
  return op[row] === OP.acquire || op[row] === OP.release;
}

/** What the server promised at least, from the instant at which it was asked, whatever its clock and ours make of it. */
function certainNs(leaseMs: number): number {
  return leaseMs > 0 ? Math.max(0, leaseMs * 1e6 - leaseMarginNs(leaseMs)) : Number.POSITIVE_INFINITY;
}

/** By row of an acquire: how long its lease certainly ran from the instant of the grant; Infinity for other rows. */
function certainLeases(history: History, callNs: Float64Array, returnNs: Float64Array): Float64Array {
  const { operations: ops, notices } = history;
  const trusted = trustedClients(history);
  const leaseNs = new Float64Array(ops.count).fill(Number.POSITIVE_INFINITY);
  let fewestMs = Number.POSITIVE_INFINITY;
  let mostMs = 0;
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire) continue;
    const leaseMs = ops.leaseMs[row]!;
    leaseNs[row] = certainNs(leaseMs);
    if (leaseMs < fewestMs) fewestMs = leaseMs;
    if (leaseMs > mostMs) mostMs = leaseMs;
  }
  const firstEndNs = (row: number) => {
    const leaseMs = ops.leaseMs[row]!;
    return attemptSentNs(ops, trusted, row) + (leaseMs > 0 ? leaseMs * 1e6 : Number.POSITIVE_INFINITY);
  };
  renew(leaseNs, renewals(ops, notices, trusted, callNs), firstEndNs, returnNs);
  if (fewestMs < mostMs) shortenNested(leaseNs, ops);
  return leaseNs;
}

interface Renewal {
  /** The row of the acquire. */
  hold: number;
  sentNs: number;
  leaseMs: number;
  /** False: it may not have been carried out. */
  known: boolean;
}

/** Of holds whose grant is known, all but those that were certainly refused, in the order in which they were sent. */
function renewals(ops: Operations, notices: Notices, trusted: Uint8Array, callNs: Float64Array): Renewal[] {
  const found: Renewal[] = [];
  for (let row = 0; row < ops.count; row++) {
    const hold = ops.hold[row]!;
    if (ops.op[row] !== OP.extend || ops.outcome[row] === OUTCOME.fail || !isGranted(ops, hold)) continue;
    const sentNs = attemptSentNs(ops, trusted, row);
    found.push({ hold, sentNs, leaseMs: ops.leaseMs[row]!, known: ops.outcome[row] === OUTCOME.ok });
  }
  for (let at = 0; at < notices.count; at++) {
    const hold = notices.hold[at]!;
    // Nothing bounds from below when a client with a wrong clock sent its renewal.
    if (notices.type[at] !== NOTICE.renewed || !trusted[notices.client[at]!] || !isGranted(ops, hold)) continue;
    found.push({ hold, sentNs: notices.clientNs[at]!, leaseMs: notices.leaseMs[at]!, known: true });
  }
  if (found.length === 0) return found;
  const releasedNs = firstReleases(ops, callNs);
  return found
    .filter(({ hold, sentNs }) => sentNs <= (releasedNs.get(hold) ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => a.sentNs - b.sentNs);
}

function isGranted({ op, outcome }: Operations, row: number): boolean {
  return row >= 0 && op[row] === OP.acquire && outcome[row] === OUTCOME.ok;
}

/** When the first release of each hold began: a renewal that was sent later proves nothing about the hold before. */
function firstReleases(ops: Operations, callNs: Float64Array): Map<number, number> {
  const released = new Map<number, number>();
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.release) continue;
    const hold = ops.hold[row]!;
    released.set(hold, Math.min(released.get(hold) ?? Number.POSITIVE_INFINITY, callNs[row]!));
  }
  return released;
}

/**
 * A renewal fixes when the lease ends at the earliest, however early or late the grant was: at sent + lease. Counted from the
 * grant, which may be as late as the acquire's return, that is sent + lease − return. A grant between 1.0 s and 1.2 s that is
 * renewed for 5 s at 4.0 s runs until 9.0 s: for 7.8 s at least.
 *
 * The last one that succeeded decides, also where it asked for less than was left. One that was sent after the lease had
 * ended does not mend the gap. One of unknown outcome can only have made the lease shorter.
 */
function renew(
  leaseNs: Float64Array,
  all: readonly Renewal[],
  firstEndNs: (hold: number) => number,
  returnNs: Float64Array,
): void {
  /** By hold: until when its lease runs, without any margin. */
  const endNs = new Map<number, number>();
  const unknown: Renewal[] = [];
  for (const renewal of all) {
    const { hold, sentNs, leaseMs, known } = renewal;
    if (!known) {
      unknown.push(renewal);
      continue;
    }
    if (sentNs > (endNs.get(hold) ?? firstEndNs(hold))) {
      endNs.set(hold, Number.NEGATIVE_INFINITY);
      continue;
    }
    endNs.set(hold, sentNs + (leaseMs > 0 ? leaseMs * 1e6 : Number.POSITIVE_INFINITY));
    leaseNs[hold] = afterRenewal(renewal, returnNs);
  }
  for (const renewal of unknown)
    leaseNs[renewal.hold] = Math.min(leaseNs[renewal.hold]!, afterRenewal(renewal, returnNs));
}

function afterRenewal({ hold, sentNs, leaseMs }: Renewal, returnNs: Float64Array): number {
  return Math.max(0, sentNs - returnNs[hold]! + certainNs(leaseMs));
}

/**
 * A reentrant lock that is taken again by its owner has one expiry, which the last grant sets: taken for 5 s and then again
 * for 1 s, it runs for 1 s from then. So the lease of a hold is no longer than that of any acquire inside it.
 */
function shortenNested(leaseNs: Float64Array, ops: Operations): void {
  const open = new Map<number, number[]>();
  for (let row = 0; row < ops.count; row++) {
    if (!isLockOp(ops, row)) continue;
    const place = ops.client[row]! * ops.keys.length + ops.key[row]!;
    const holds = open.get(place) ?? [];
    if (ops.op[row] === OP.release) {
      const at = holds.indexOf(ops.hold[row]!);
      if (at >= 0) holds.splice(at, 1);
    } else if (ops.outcome[row] !== OUTCOME.fail) {
      for (const hold of holds) leaseNs[hold] = Math.min(leaseNs[hold]!, certainNs(ops.leaseMs[row]!));
      holds.push(row);
    }
    open.set(place, holds);
  }
}
