import { isUnknown } from '../../../../checkers/linearizability/models/answers.js';
import type { KeyHistory } from '../../../../checkers/linearizability/types.js';
import { OP } from '../../../../harness/record/history-table.js';
import { KEY, type Story } from '../build.js';

/**
 * The one key of a story as the procedures see it: row n is the n-th acquire or release in the order of calls, each takes the
 * time from its call to its answer, and leases are exact, without the margins that a run's leases lose.
 */
export function keyOf(story: Story): KeyHistory {
  const { operations } = story.history();
  const { count, op, sentNs, readNs, leaseMs } = operations;
  return {
    key: KEY,
    operations,
    rows: Int32Array.from({ length: count }, (_, row) => row),
    callNs: sentNs,
    returnNs: readNs.map((ns, row) => (isUnknown(operations, row) ? Number.POSITIVE_INFINITY : ns)),
    leaseNs: leaseMs.map((ms, row) => (op[row] === OP.acquire && ms > 0 ? ms * 1e6 : Number.POSITIVE_INFINITY)),
  };
}
