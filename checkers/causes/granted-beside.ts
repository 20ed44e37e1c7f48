/**
 * The server's own record named the holder when the lock granted its key to another client beside it: `granted-beside`.
 *
 * Example: c1 and c2 read, and both are in the hash. c2 wants to write, and its script lets it, as it is in already.
 *
 * Named where one server stored both under the same key: the holder's own value was certainly there from its grant
 * until the next one had its answer, the command that was granted next stored another one beside it, and that server's
 * clock gained nothing meanwhile, nor was a clock off by which a client or the server may have taken the lease for
 * over. So nothing was lost, and no time had ended what stood there: who goes by that record knew of the holder.
 *
 * Excludes what overwrote the holder's value (`overwritten`); permits, of which several may stand there; and locks that keep who
 * holds under different keys, be it beside this one: where the holder has lost what it had stored under such a key, the next one may
 * have found the lock free by that.
 */

import { type Change, ownersBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { type Contest, grantLink, leaseLink, type Reason } from './contest.js';
import { keptItsData } from './meanwhile.js';
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
  // What it had may have been all of another server's by then.
  if (evidence.isReplicated && !keptItsData(write.node, reached!.atNs, write.atNs, evidence)) return undefined;
  if (mayGoByWrongClock(contest, write, evidence) || hasLostBeside(contest, evidence)) return undefined;
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

/** A number of something, and nobody's name. */
const COUNT = /^-?\d+$/;

/** Whether what the holder's client stored under another key of the resource may have gone before the next one had its answer. */
function hasLostBeside({ earlier: { hold }, later, key }: Contest, evidence: Evidence): boolean {
  const reading = evidence.readingOf(later.write.node)!;
  const [fromNs, untilNs] = [hold.grantSentNs - RECKONING_NS, later.hold.fromNs];
  // What the next one replaced itself it had found there; and who is granted the lock leaves the queue for it.
  const isLoss = (owner: string, { by, before, after, ranFromNs }: Change) =>
    ranFromNs <= untilNs &&
    stores(before, owner) !== 'no' &&
    stores(after, owner) === 'no' &&
    by?.client !== later.hold.client &&
    (by?.client !== hold.client || ranFromNs > hold.fromNs);
  return [...reading.keys()].some((other) => {
    if (other === key || !other.includes(key)) return false;
    const { list } = reading.changes(other);
    return list.some(({ by, applied, atNs, after, wanted, line }, at) => {
      if (by?.client !== hold.client || applied === 'no' || atNs < fromNs || atNs > untilNs) return false;
      const owners = ownersBy(wanted ?? after, line).filter((owner) => !COUNT.test(owner));
      return owners.some((owner) => list.slice(at + 1).some((change) => isLoss(owner, change)));
    });
  });
}
