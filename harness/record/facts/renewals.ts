/**
 * What a history tells about renewals of holds: extensions that were asked for, and those that a lock made by itself and told
 * of. Each with the instant from which its lease runs, drawn early rather than late.
 *
 * A renewal that the client reported by itself counts only where its client's clock can be trusted: else nothing bounds when
 * it was sent.
 */
import type { History } from '../../vocabulary/history.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { NOTICE, OP, OUTCOME } from '../history-table.js';
import { attemptSentNs, ownStamp, trustedClients } from './operations.js';

export interface Renewal {
  /** The number of the hold. */
  k: number;
  sentNs: number;
  leaseMs: number;
  /** When the lease ends by the lock's own word, where that is well before it ends by what was asked for; else Infinity. */
  saidNs?: number;
  /** False: it may not have been carried out. */
  known: boolean;
  /** It is a grant in another mode, that may have renewed this one. */
  inOtherMode?: boolean;
  /** The history line that told of it, or that asked for it where nothing told. */
  line: number;
}

/** A grant, or a renewal of it: what was asked for, and what the lock said of it. */
export type LeaseTerm = Pick<Renewal, 'sentNs' | 'leaseMs' | 'saidNs'>;

/** A lock keeps so much of a lease back for clocks that differ, and a little more: it has asked servers for all of it. */
const KEPT_BACK = 0.02;
const KEPT_BACK_MS = 5;

/**
 * When a lease ends by the lock's own word (`validForMs`, counted from `answeredNs`). A lock that knows whole seconds only, and
 * stores a lease of 4.7 s for 4, says so: who is granted the key after that is granted it rightly. Infinity where it says
 * nothing, or no less than what it may keep back for clocks that differ: that does not make the lease shorter.
 */
export function saidToEndNs(
  { sentNs, leaseMs }: LeaseTerm,
  answeredNs: number,
  validForMs: number | undefined = Number.NaN,
): number {
  const saidNs = answeredNs + validForMs * 1e6;
  return saidNs < sentNs + (leaseMs * (1 - KEPT_BACK) - KEPT_BACK_MS) * 1e6 ? saidNs : Number.POSITIVE_INFINITY;
}

/**
 * When the lease of a hold ends that was granted so, held until `untilNs`, and renewed; `renewals` in the order in which they
 * were sent.
 *
 * The last successful renewal decides, also where it asked for a shorter lease than the one before: that is what the
 * server has. A renewal that was sent after the lease had already run out does not mend the gap: granted at 0 s for 5 s,
 * renewed at 7 s, the client was stale from 5 s on, and a client that was granted the lock at 6 s was granted it rightly.
 *
 * What a lock says of how long it is good ends the lease that it says that of, and no renewal: it may store a key for longer.
 *
 * An extension of unknown outcome may have been carried out: it can only be held against the lease (it may have made it
 * shorter), never for it.
 */
export function leaseEndAfter(
  granted: LeaseTerm,
  untilNs: number,
  renewals: readonly (LeaseTerm & Pick<Renewal, 'known'>)[],
): number {
  const askedEndNs = ({ sentNs, leaseMs }: LeaseTerm) => sentNs + leaseMs * 1e6;
  let last = granted;
  for (const renewal of renewals.filter(({ known }) => known)) {
    if (renewal.sentNs > askedEndNs(last) || renewal.sentNs > untilNs) break;
    last = renewal;
  }
  const unknown = renewals.filter(({ known }) => !known);
  return Math.min(askedEndNs(last), last.saidNs ?? Number.POSITIVE_INFINITY, ...unknown.map(askedEndNs));
}

/**
 * The lease's end, and until when a hold is proven that lasted from `fromNs` to `untilNs`.
 *
 * Where a writer also reads, or a reader is to write, one lock gives all that the client holds the new time, and another keeps a
 * time for each (`inOtherMode`). Between the two ends it is not known whether the lease ran, and so from the first of them on
 * nothing is said of the hold.
 */
export function provenBounds(
  granted: LeaseTerm,
  { fromNs, untilNs }: Pick<Hold, 'fromNs' | 'untilNs'>,
  renewals: readonly (LeaseTerm & { known: boolean; inOtherMode?: boolean })[],
): Pick<Hold, 'untilNs' | 'leaseEndNs'> {
  const together = leaseEndAfter(granted, untilNs, renewals);
  const apart = leaseEndAfter(
    granted,
    untilNs,
    renewals.filter(({ inOtherMode }) => !inOtherMode),
  );
  const leaseEndNs = Math.min(together, apart);
  return { leaseEndNs, untilNs: together === apart ? untilNs : Math.max(fromNs, Math.min(untilNs, leaseEndNs)) };
}

/** Of a grant or an extension in that row; where its client's stamps cannot be trusted, counted from when it was sent. */
export function saidOf({ operations: ops }: History, trusted: Uint8Array, row: number, leased: LeaseTerm): number {
  return saidToEndNs(leased, ownStamp(ops, trusted, row, ops.endedNs, leased.sentNs), ops.validForMs[row]);
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
    const leased = { sentNs: attemptSentNs(ops, trusted, row), leaseMs: ops.leaseMs[row] || 0 };
    renewals.push({ k, ...leased, saidNs: saidOf(history, trusted, row, leased), known, line });
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
