/**
 * A second opinion on every overlap before anybody is accused: the holds of it alone, cut out of the history, must be
 * impossible for the model, by a procedure that shares nothing with the sweep which found them (`timed-oracle.ts`).
 *
 * Where leases still ran, each hold is granted between the sending of its attempt and its answer, and its lease, shortened
 * by the margin, runs from that instant. Where one acted on after its lease, leases are left out: then a hold lasts until its
 * release began.
 */

import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { historyOf, OP } from '../../harness/record/history-table.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { isTimedFeasible } from '../linearizability/timed-oracle.js';
import type { KeyHistory, Reading } from '../linearizability/types.js';

/** The oracle tries every order: no more operations than this. */
const MOST_OPERATIONS = 8;

/** Whether the overlap cannot be explained by any order of its grants and releases. */
export function isImpossibleOverlap(overlap: Overlap, model: LockModel): boolean {
  const holds = [overlap.first, ...overlap.others, overlap.second];
  // Four permits and more: too many orders to try. Fewer of the holds together with as many permits less say the same.
  const spare = Math.max(0, holds.length - MOST_OPERATIONS / 2);
  const fewer = model.kind === 'semaphore' && spare > 0 ? { ...model, permits: model.permits - spare } : model;
  const leases = overlap.class === 'exclusion';
  const reading: Reading = { failedReleaseEnds: true, leases, triesInform: false };
  return !isTimedFeasible(cutOut(holds.slice(spare), leases), fewer, reading);
}

/** The holds as a history of one key: for each an acquire that was granted, and a release that began when it ended. */
function cutOut(holds: readonly Hold[], leases: boolean): KeyHistory {
  const key = holds[0]!.key;
  const moments = holds.flatMap((hold, n) => {
    // A nested hold of one owner is known by its number, as is everything else here.
    const about = { client: hold.client, key };
    const ids = { acquire: 2 * n, release: 2 * n + 1 };
    const shared = hold.mode === undefined ? {} : { mode: hold.mode };
    const acquire = {
      type: 'invoke',
      ...about,
      id: ids.acquire,
      op: 'acquire',
      leaseMs: hold.leaseMs,
      ...shared,
    } as const;
    const granted = { type: 'ok', ...about, id: ids.acquire, op: 'acquire' } as const;
    const release = { type: 'invoke', ...about, id: ids.release, op: 'release', hold: ids.acquire } as const;
    const token = hold.token === undefined ? {} : { token: hold.token };
    return [
      { atNs: hold.grantSentNs, body: acquire },
      { atNs: hold.fromNs, body: { ...granted, ...token } },
      { atNs: hold.untilNs, body: release },
    ];
  });
  const events = moments
    .sort((a, b) => a.atNs - b.atNs)
    .map(({ atNs, body }, i): HistoryEvent => ({ i, atNs, ...body }));
  const { operations } = historyOf(events);
  const leaseOf = new Map(
    holds.map((hold, n) => [2 * n, hold.leaseEndNs - leaseMarginNs(hold.leaseMs) - hold.grantSentNs]),
  );
  const rows = Int32Array.from({ length: operations.count }, (_, row) => row);
  return {
    key,
    operations,
    rows,
    callNs: Float64Array.from(rows, (row) => operations.sentNs[row]!),
    // What came of the release is left open: it may have taken effect at any time after it began.
    returnNs: Float64Array.from(rows, (row) =>
      operations.op[row] === OP.acquire ? operations.readNs[row]! : Number.POSITIVE_INFINITY,
    ),
    leaseNs: Float64Array.from(
      rows,
      (row) => (leases ? leaseOf.get(operations.id[row]!) : undefined) ?? Number.POSITIVE_INFINITY,
    ),
  };
}
