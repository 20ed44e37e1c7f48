/**
 * Which operations a search has to place. What is left out changes no verdict, and is what makes a search hopeless: every
 * operation of unknown outcome doubles the sets that are to be distinguished.
 *
 * All this stands on what every lock model has in common: with one hold less, no more is refused. So whatever takes effect
 * only to hold, and never has to be released, can as well not have taken effect, except where somebody's refusal needs it.
 */
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { deniedOwnership, isUnknown, refusedForHolder } from './models/answers.js';
import type { KeyHistory, Model, Reading } from './types.js';

/** Rows of the history that are to be placed, in their order. */
export function relevantRows(model: Model<unknown>, history: KeyHistory, reading: Reading): Int32Array {
  const { operations: ops, rows } = history;
  const released = new Map<number, boolean>();
  let lastRefusalNs = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const hold = ops.hold[row]!;
    if (ops.op[row] === OP.release) released.set(hold, ops.outcome[row] === OUTCOME.ok || released.get(hold) === true);
    else if (isInformative(history, row, reading)) lastRefusalNs = Math.max(lastRefusalNs, history.returnNs[row]!);
  }
  const granted = rows.filter((row) => mayHold(history, row, released, lastRefusalNs));
  const fewer = withoutSpareHolders(model, history, granted, released);
  const holds = new Set(fewer);
  return rows.filter((row) =>
    ops.op[row] === OP.acquire
      ? holds.has(row) || isInformative(history, row, reading)
      : mayEnd(history, row, holds, released, reading),
  );
}

/** Holds that a release names, and whether one of those succeeded. */
type Released = ReadonlyMap<number, boolean>;

function isInformative({ operations: ops }: KeyHistory, row: number, { triesInform }: Reading): boolean {
  return triesInform && refusedForHolder(ops, row);
}

/**
 * Acquires that were granted, and those of unknown outcome that something needs: a release that succeeded, or a refusal that
 * was answered after their call.
 *
 * c3 dies while it acquires, and is never heard of again. If the rest can be explained with its hold, which then lasts to
 * the end, the same order without it explains the rest too.
 */
function mayHold(
  { operations: ops, callNs }: KeyHistory,
  row: number,
  released: Released,
  lastRefusalNs: number,
): boolean {
  if (ops.op[row] !== OP.acquire || ops.outcome[row] === OUTCOME.fail) return false;
  if (!isUnknown(ops, row) || released.get(row)) return true;
  return callNs[row]! <= lastRefusalNs;
}

/**
 * Of unknown acquires that nothing could end, neither a release nor a lease (which is a release here, see `leases.ts`), as
 * many as can hold at once: those called earliest. One of them that holds, holds to the end, so no more take effect; and
 * where a later one does, an earlier one can in its place. Only where it makes no difference whose hold it is and which
 * token it gave.
 */
function withoutSpareHolders(
  { model }: Model<unknown>,
  { operations: ops, callNs }: KeyHistory,
  granted: Int32Array,
  released: Released,
): Int32Array {
  if (model.kind === 'reentrant' || model.kind === 'read-write') return granted;
  const permits = model.kind === 'semaphore' ? model.permits : 1;
  const toTheEnd = (row: number) => isUnknown(ops, row) && !released.has(row) && Number.isNaN(ops.token[row]!);
  const spare = new Set(
    granted
      .filter(toTheEnd)
      .sort((a, b) => callNs[a]! - callNs[b]!)
      .subarray(permits),
  );
  return granted.filter((row) => !spare.has(row));
}

/**
 * Releases that succeeded, whether or not there was a hold to end: if not, that is for the search to find. Others only of
 * holds that there may be, and an unknown one only where no other release of that hold succeeded: then it was that one.
 */
function mayEnd(
  { operations: ops }: KeyHistory,
  row: number,
  holds: ReadonlySet<number>,
  released: Released,
  { failedReleaseEnds }: Reading,
): boolean {
  const hold = ops.hold[row]!;
  if (ops.outcome[row] === OUTCOME.ok) return true;
  if (ops.outcome[row] === OUTCOME.fail && !(failedReleaseEnds && deniedOwnership(ops, row))) return false;
  if (!holds.has(hold)) return false;
  return ops.outcome[row] === OUTCOME.fail || !released.get(hold);
}
