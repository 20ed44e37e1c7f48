/**
 * What a history tells about renewals of holds: extensions that were asked for, and those that a lock made by itself and told
 * of. Each with the instant from which its lease runs, drawn early rather than late.
 *
 * A renewal that was told unasked counts only where its client's clock can be trusted: else nothing bounds when it was sent.
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
