/**
 * What a "no" says about the lock. Reasons are free text with a few usual words (`docs/protocol.md`); whatever is not one
 * of these words is taken to say the least, so that an unfamiliar word never accuses.
 */

import { OP, OUTCOME } from '../../../harness/record/history-table.js';
import type { Operations } from '../../../harness/vocabulary/history.js';

/**
 * Whether a row is an acquire that was refused because of who held the lock: only then does it say anything about the lock.
 *
 * `no-quorum` does not: five nodes split between three clients refuse all of them, and none holds. Neither does
 * `unreachable`, nor a refusal without a reason.
 */
export function refusedForHolder({ op, outcome, reason, reasons }: Operations, row: number): boolean {
  return op[row] === OP.acquire && outcome[row] === OUTCOME.fail && reasons[reason[row]!] === 'held';
}

/**
 * Whether a row is a release that was answered "not yours". One that reached no server (`unreachable`) got no answer: the
 * lock still has the hold on its books, and no other client may be granted it meanwhile.
 */
export function deniedOwnership({ op, outcome, reason, reasons }: Operations, row: number): boolean {
  return op[row] === OP.release && outcome[row] === OUTCOME.fail && reasons[reason[row]!] !== 'unreachable';
}

/** Whether it is not known what came of the row. */
export function isUnknown({ outcome }: Operations, row: number): boolean {
  return outcome[row] === OUTCOME.info || outcome[row] === OUTCOME.none;
}
