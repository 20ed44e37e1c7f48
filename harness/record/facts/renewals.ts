/**
 * What a history tells about renewals of holds: extensions that were asked for, and those that a lock made by itself and told
 * of. Each with the instant from which its lease runs, drawn early rather than late.
 *
 * A renewal that the client reported by itself counts only where its client's clock can be trusted: else nothing bounds when
 * it was sent.
 */
import type { History } from '../../vocabulary/history.js';
import { NOTICE, OP, OUTCOME } from '../history-table.js';
import { attemptSentNs, trustedClients } from './operations.js';

export interface Renewal {
  /** The number of the hold. */
  k: number;
  sentNs: number;
  leaseMs: number;
  /** False: it may not have been carried out. */
  known: boolean;
  /** The history line that told of it, or that asked for it where nothing told. */
  line: number;
}

/**
 * When the lease of a hold ends that was granted until `grantedEndNs`, held until `untilNs`, and renewed; `renewals` in the order
 * in which they were sent.
 *
 * The last successful renewal decides, also where it asked for a shorter lease than the one before: that is what the
 * server has. A renewal that was sent after the lease had already run out does not mend the gap: granted at 0 s for 5 s,
 * renewed at 7 s, the client was stale from 5 s on, and a client that was granted the lock at 6 s was granted it rightly.
 *
 * An extension of unknown outcome may have been carried out: it can only be held against the lease (it may have made it
 * shorter), never for it.
 */
export function leaseEndAfter(
  grantedEndNs: number,
  untilNs: number,
  renewals: readonly Pick<Renewal, 'sentNs' | 'leaseMs' | 'known'>[],
): number {
  let endNs = grantedEndNs;
  for (const { sentNs, leaseMs } of renewals.filter(({ known }) => known)) {
    if (sentNs > endNs || sentNs > untilNs) break;
    endNs = sentNs + leaseMs * 1e6;
  }
  for (const { sentNs, leaseMs, known } of renewals) if (!known) endNs = Math.min(endNs, sentNs + leaseMs * 1e6);
  return endNs;
}

/** All but those that were certainly refused. `holdOf`: by row of an acquire the number of its hold, or -1. */
export function toldRenewals(history: History, holdOf: Int32Array): Renewal[] {
  const { operations: ops, notices } = history;
  const trusted = trustedClients(history);
  const renewals: Renewal[] = [];
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.extend || ops.outcome[row] === OUTCOME.fail || ops.hold[row]! < 0) continue;
    const k = holdOf[ops.hold[row]!]!;
    if (k < 0) continue;
    const known = ops.outcome[row] === OUTCOME.ok;
    const line = known ? ops.completionLine[row]! : ops.invokeLine[row]!;
    renewals.push({ k, sentNs: attemptSentNs(ops, trusted, row), leaseMs: ops.leaseMs[row] || 0, known, line });
  }
  for (let at = 0; at < notices.count; at++) {
    if (notices.type[at] !== NOTICE.renewed || !trusted[notices.client[at]!] || notices.hold[at]! < 0) continue;
    const k = holdOf[notices.hold[at]!]!;
    if (k < 0) continue;
    const [sentNs, leaseMs, line] = [notices.clientNs[at]!, notices.leaseMs[at]!, notices.line[at]!];
    renewals.push({ k, sentNs, leaseMs, known: true, line });
  }
  return renewals;
}
