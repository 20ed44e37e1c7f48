/**
 * The server's own record named the holder when the lock granted its key to another client beside it: `granted-beside`.
 *
 * Example: c1 and c2 read, and both are in the hash. c2 wants to write, and its script lets it, as it is in already.
 *
 * Named where one server stored both under the same key: the holder's own value was certainly there from its grant until the next
 * one had its answer, the command that was granted next stored another one beside it, and that server's clock gained nothing
 * meanwhile, nor was a clock off by which a client or the server may have taken the lease for over. So nothing was lost, and no time had ended what stood there: who goes by that record knew of the holder.
 *
 * Excludes what overwrote the holder's value (`overwritten`); permits, of which several may stand there; and locks that keep who
 * holds under different keys.
 */

import { stores } from '../../harness/record/facts/commands/changes.js';
import { grantLink, leaseLink, type Reason } from './contest.js';
import { mayGoByWrongClock } from './told-time.js';

export const grantedBeside: Reason = (contest, evidence) => {
  const { earlier, later, reached, key } = contest;
  const { write } = later;
  const owner = reached?.value;
  if (earlier.hold.client === later.hold.client || owner === undefined || reached!.node !== write.node)
    return undefined;
  if (write.took !== true || write.value === undefined || write.value === owner || !write.after) return undefined;
  if (stores(write.after, owner) !== 'yes' || stores(write.after, write.value) !== 'yes') return undefined;
  const loss = evidence.readingOf(write.node)?.changes(key).lossOf(owner, reached!.observation);
  if (loss && loss.ranFromNs <= later.hold.fromNs) return undefined;
  if (evidence.clockGains(write.node, reached!.ranNs, write.ranNs).length > 0) return undefined;
  if (mayGoByWrongClock(contest, write, evidence)) return undefined;
  const stood = `${write.node} had ${earlier.hold.client} in ${key}`;
  return {
    name: 'granted-beside',
    sentence: `${stood} when it stored ${later.hold.client} there as well (${write.command}), which was granted it all the same.`,
    chain: [
      grantLink(earlier),
      { atNs: write.atNs, text: `${stood}, and stored ${later.hold.client} beside`, observation: write.observation },
      grantLink(later),
      leaseLink(earlier),
    ],
  };
};
