/**
 * When each operation ran, as tightly as the record proves it: not before `callNs`, and answered by `returnNs`.
 *
 * A client's own stamps count where they can be true; else the harness's, which lie further apart. So "A returned before B
 * was called" is never said wrongly.
 */
import type { History } from '../../vocabulary/history.js';
import { OUTCOME } from '../history-table.js';
import { once } from './once.js';
import { trustedClients } from './operations.js';

/** By row of the history's operations. */
export interface Intervals {
  callNs: Float64Array;
  /**
   * When the answer was there, or when an operation of unknown outcome was given up: that one may still take effect later.
   * Infinity where neither was recorded.
   */
  returnNs: Float64Array;
}

export const intervalsOf = once((history: History): Intervals => {
  const { operations: ops } = history;
  const trusted = trustedClients(history);
  const callNs = new Float64Array(ops.count);
  const returnNs = new Float64Array(ops.count);
  for (let row = 0; row < ops.count; row++) {
    const own = trusted[ops.client[row]!] === 1;
    const [beganNs, endedNs, readNs] = [ops.beganNs[row]!, ops.endedNs[row]!, ops.readNs[row]!];
    callNs[row] = own && !Number.isNaN(beganNs) ? beganNs : ops.sentNs[row]!;
    returnNs[row] = own && !Number.isNaN(endedNs) ? endedNs : Number.isNaN(readNs) ? Number.POSITIVE_INFINITY : readNs;
  }
  return { callNs, returnNs };
});

/** Whether an operation may have taken effect between two instants: it was under way, or had not been answered with a yes before. */
export function mayTakeEffectWithin(history: History, row: number, fromNs: number, untilNs: number): boolean {
  const { callNs, returnNs } = intervalsOf(history);
  return callNs[row]! <= untilNs && (history.operations.outcome[row] !== OUTCOME.ok || returnNs[row]! >= fromNs);
}

/**
 * Calls and returns of these rows in the order of time: at one time calls first, for equal stamps are concurrent. A call is twice the
 * row, and where `isReturned` its return one more.
 */
export function callsAndReturns(
  rows: Iterable<number>,
  isReturned: (row: number) => boolean,
  { callNs, returnNs }: Intervals,
): Float64Array {
  const events: number[] = [];
  for (const row of rows) {
    events.push(2 * row);
    if (isReturned(row)) events.push(2 * row + 1);
  }
  const nsOf = (event: number) => (isReturn(event) ? returnNs : callNs)[rowOf(event)]!;
  return Float64Array.from(events).sort(
    (a, b) => nsOf(a) - nsOf(b) || Number(isReturn(a)) - Number(isReturn(b)) || a - b,
  );
}

/** Of what `callsAndReturns` gives. */
export function isReturn(event: number): boolean {
  return event % 2 === 1;
}

/** The row that it is of. */
export function rowOf(event: number): number {
  return Math.floor(event / 2);
}
