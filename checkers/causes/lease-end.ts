/**
 * Until when a lease may have run whose client does not say when the attempt left that was granted: a lock that waits in its library
 * cannot tell, and its lease is then counted from when it was asked.
 *
 * Example: c1 waits for 6 s, is granted a lease of 5 s and works for 2 s. Counted from when it asked, the lease was over before it was
 * granted; and it may have been granted late, or, what is likelier, within its lease.
 */
import { holdsOf } from '../../harness/record/facts/holds.js';
import { grantedMs, leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import { once } from '../../harness/record/facts/once.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { leaseEndAfter, toldRenewals } from '../../harness/record/facts/renewals.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

/** Every stale hold asks. */
const renewalsOf = once((history: History) => toldRenewals(history, holdsOf(history).ofRow));

/** The hold as it was if its attempt left just before the answer came; undefined: its client says when it left. */
export function leasedLate(hold: Hold, history: History): Hold | undefined {
  const { client, fromNs, untilNs, leaseMs, evidence } = hold;
  const { operations: ops } = history;
  const answer = history.event(evidence[1] ?? -1);
  const isTrusted = trustedClients(history)[ops.clients.indexOf(client)] === 1;
  if (isTrusted && answer?.type === 'ok' && answer.grantSentNs !== undefined) return undefined;
  const holds = holdsOf(history);
  const renewals = renewalsOf(history)
    .filter(({ k, known }) => known && ops.completionLine[holds.row[k]!] === evidence[1])
    .sort((a, b) => a.sentNs - b.sentNs);
  const granted = { sentNs: fromNs, leaseMs: grantedMs(leaseKindOf(history), leaseMs) };
  return { ...hold, grantSentNs: fromNs, leaseEndNs: leaseEndAfter(granted, untilNs, renewals) };
}
