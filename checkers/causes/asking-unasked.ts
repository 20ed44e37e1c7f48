/**
 * On a Cluster a node that a slot is on its way to took a lock that the slot's owner still had: its client said ASKING without
 * having been told to.
 *
 * Example: r2 is to import lock:0's slot from r1, which has c1's key. c2 sends `ASKING` and its SET to r2, which knows nothing of
 * the key, and takes it.
 *
 * Named where the move of the key's slot between these two nodes was certainly in force when the second grant was sent and when it ran, and the
 * source had the first holder's value and was primary all that time, and was looked at after it and had that value still. Who has the key sends nobody away for it; whose slot it is
 * not takes commands on it from nobody but a client that says ASKING.
 *
 * Excludes keys that had come to the target, also by a request of the first holder's own; a target that was a replica when the move had
 * begun: one that is made primary in its source's place needs no ASKING; and a source that was replaced.
 */
import calculateSlot from 'cluster-key-slot';
import { mayHaveStoredThere } from './came.js';
import { grantLink, leaseLink, type Reason, ranBy } from './contest.js';
import { wasPrimaryThroughout } from './meanwhile.js';

export const askingUnasked: Reason = (contest, evidence) => {
  const { earlier, later, key, reached } = contest;
  const [source, target] = [earlier.write.node, later.write.node];
  const { value } = earlier.write;
  if (reached || value === undefined) return undefined;
  const [sentNs, ranNs] = [later.hold.grantSentNs, ranBy(later)];
  const move = evidence.effects.spans('slot-moves').find(
    ({ effect: { who, slot, atOnce }, fromNs, untilNs }) =>
      // Else nobody is sent away, nor is what says ASKING taken: the target is the owner, or turns all away.
      !atOnce &&
      slot === calculateSlot(key) &&
      who[0] === source &&
      who[1] === target &&
      fromNs <= sentNs &&
      untilNs >= ranNs,
  );
  const changes = evidence.readingOf(source)?.changes(key);
  if (!move || ![sentNs, ranNs].every((atNs) => changes?.storedAt(value, atNs).truth === 'yes')) return undefined;
  // Where the slot has come to the target by then the source drops its keys unsaid.
  if (!evidence.seenStored(source, key, value, ranNs, earlier.hold.leaseEndNs)) return undefined;
  if (mayHaveStoredThere(contest, evidence)) return undefined;
  const asReplica = evidence.lastAsReplica(target, ranNs);
  if (asReplica && asReplica[1].atNs >= move.earliestNs) return undefined;
  if (!wasPrimaryThroughout(source, sentNs, ranNs, evidence)) return undefined;
  const { atNs, did, i } = move.record;
  return {
    name: 'asking-unasked',
    sentence: `${target} was to import the slot of ${key} from ${source}, which had ${earlier.hold.client}'s key and so sent nobody away for it: ${target} takes commands on it only from a client that says ASKING, and granted it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      { atNs, text: did, history: i },
      {
        atNs: ranNs,
        text: `${source} had ${earlier.hold.client}'s ${key}`,
        observation: changes!.storedAt(value, ranNs).lines[0],
      },
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};
