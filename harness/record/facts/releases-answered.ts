/** When a hold was given back for certain: its client had been told so. */
import type { History } from '../../vocabulary/history.js';
import { OP } from '../history-table.js';
import { holdsOf } from './holds.js';
import { intervalsOf } from './intervals.js';
import { once } from './once.js';

/** By hold: when the last answer to a release of it was there, ns since the epoch; -Infinity where none was. */
export const releasesAnsweredNs = once((history: History): Float64Array => {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const { returnNs } = intervalsOf(history);
  const answeredNs = new Float64Array(holds.count).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < ops.count; row++) {
    const k = ops.op[row] === OP.release ? holds.about(row) : -1;
    if (k >= 0 && returnNs[row]! > answeredNs[k]! && Number.isFinite(returnNs[row]!)) answeredNs[k] = returnNs[row]!;
  }
  return answeredNs;
});
