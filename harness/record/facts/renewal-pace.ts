/** How often locks renew, by what their clients were seen to do in this run. */
import type { History } from '../../vocabulary/history.js';
import { holdsOf } from './holds.js';
import { once } from './once.js';
import { toldRenewals } from './renewals.js';

/**
 * The usual time from a grant or a renewal until the next renewal leaves, in parts of the lease: the median over all holds.
 * Undefined where none was renewed.
 */
export const renewalPace = once((history: History): number | undefined => {
  const holds = holdsOf(history);
  const renewals = toldRenewals(history, holds.ofRow).filter(({ known }) => known);
  renewals.sort((a, b) => a.k - b.k || a.sentNs - b.sentNs);
  const parts = renewals.map(({ k, sentNs }, n) => {
    const last = renewals[n - 1];
    const term = last?.k === k ? last : { sentNs: holds.grantSentNs[k]!, leaseMs: holds.leaseMs[k]! };
    return (sentNs - term.sentNs) / (term.leaseMs * 1e6);
  });
  return parts.sort((a, b) => a - b)[Math.floor(parts.length / 2)];
});
