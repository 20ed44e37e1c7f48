/** A few rows of a key's history as a history of their own, in which nothing else ever happened. */
import { rowsOf, valuesAt } from '../../harness/record/column-table.js';
import { OPERATION_COLUMNS } from '../../harness/record/history-columns.js';
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
    ...rowsOf(OPERATION_COLUMNS, ops, rows),
    hold: Int32Array.from(rows, (row) => newRow.get(ops.hold[row]!) ?? -1),
  };
  return {
    key: history.key,
    operations,
    rows: Int32Array.from(rows, (_, at) => at),
    callNs: valuesAt(history.callNs, rows),
    returnNs: valuesAt(history.returnNs, rows),
    leaseNs: valuesAt(history.leaseNs, rows),
  };
}
