/** A few rows of a key's history as a history of their own, in which nothing else ever happened. */
import type { Operations } from '../../harness/vocabulary/history.js';
import type { KeyHistory } from './types.js';

/**
 * `rows` in ascending order; they become rows 0, 1, ... A release whose acquire is not among them names none. Copies only
 * what it needs: it is made for each witness of a history that may have millions of rows.
 */
export function cutOut(history: KeyHistory, rows: readonly number[]): KeyHistory {
  const { operations: ops } = history;
  const newRow = new Map(rows.map((row, at) => [row, at]));
  const operations: Operations = {
    ...ops,
    count: rows.length,
    client: chosen(ops.client, rows),
    key: chosen(ops.key, rows),
    op: chosen(ops.op, rows),
    mode: chosen(ops.mode, rows),
    outcome: chosen(ops.outcome, rows),
    reason: chosen(ops.reason, rows),
    hold: Int32Array.from(rows, (row) => newRow.get(ops.hold[row]!) ?? -1),
    invokeLine: chosen(ops.invokeLine, rows),
    completionLine: chosen(ops.completionLine, rows),
    id: chosen(ops.id, rows),
    sentNs: chosen(ops.sentNs, rows),
    readNs: chosen(ops.readNs, rows),
    beganNs: chosen(ops.beganNs, rows),
    endedNs: chosen(ops.endedNs, rows),
    leaseFromNs: chosen(ops.leaseFromNs, rows),
    leaseMs: chosen(ops.leaseMs, rows),
    waitMs: chosen(ops.waitMs, rows),
    validForMs: chosen(ops.validForMs, rows),
    token: chosen(ops.token, rows),
    value: chosen(ops.value, rows),
    version: chosen(ops.version, rows),
  };
  return {
    key: history.key,
    operations,
    rows: Int32Array.from(rows, (_, at) => at),
    callNs: chosen(history.callNs, rows),
    returnNs: chosen(history.returnNs, rows),
    leaseNs: chosen(history.leaseNs, rows),
  };
}

function chosen<Column extends Uint8Array | Int32Array | Float64Array>(
  column: Column,
  rows: readonly number[],
): Column {
  const copy = new (column.constructor as new (length: number) => Column)(rows.length);
  for (let at = 0; at < rows.length; at++) copy[at] = column[rows[at]!]!;
  return copy;
}
