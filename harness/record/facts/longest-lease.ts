/** For how long what this run was granted lasts at the most. */
import type { History } from '../../vocabulary/history.js';
import { NOTICE } from '../history-table.js';
import { once } from './once.js';

/** The longest lease that was granted, or renewed to, in milliseconds; 0 where nothing was granted. */
export const longestLeaseMs = once(({ operations: ops, notices }: History): number => {
  let longest = 0;
  for (let row = 0; row < ops.count; row++) if (ops.leaseMs[row]! > longest) longest = ops.leaseMs[row]!;
  for (let at = 0; at < notices.count; at++)
    if (notices.type[at] === NOTICE.renewed && notices.leaseMs[at]! > longest) longest = notices.leaseMs[at]!;
  return longest;
});
