/**
 * Two grants by two nodes of one replicated deployment, the second by one that had never heard of the first.
 *
 * - `failover-lost-write`: the first grant's node was replaced by one that had been its replica and did not have the write.
 * - `split-brain`: the other way about; a replaced primary that did not know it yet granted what the new one had granted.
 *
 * Both need the change of roles and the missing write to be observed. A failover that happened meanwhile, but whose new
 * primary had the write, or that concerned neither grant, explains nothing; nor does one by which nothing was lost any more: the node
 * that had the first grant had lost that by then, or its time was over.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isHidden, type SampleObservation } from '../../harness/record/facts/key-writes.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { mayHaveCome, mayHaveGoneThere, mayHaveStoredThere, readAsPrimary, whyApart } from './came.js';
import { type Contest, grantLink, leaseLink, type Reason, ranBy } from './contest.js';
import { WAS_REPLICA } from './losses.js';
import { ANSWERED_WITHIN_NS, hadTimeLeft, type Party, ranAnew, wasPrimaryThroughout } from './meanwhile.js';
import { lostBy } from './tenure.js';

export const failoverLostWrite: Reason = (contest, evidence) => {
  const { earlier, later, key } = contest;
  const [from, to] = [earlier.write.node, later.write.node];
  const returned = from === to;
  if (!returned && (contest.reached || mayHaveMoved(contest, evidence))) return undefined;
  const asReplica = evidence.lastAsReplica(to, ranBy(later));
  if (!asReplica) return undefined;
  // If the first one was itself a replica more lately, it was the one that did the replacing: see split-brain.
  if (!isNewer(asReplica[1], from, earlier, evidence)) return undefined;
  const promoted = evidence
    .samples(to, asReplica[1].atNs, later.write.atNs)
    .find(([, sample]) => sample.role === 'primary');
  const readBack = readAsPrimary(to, asReplica[1].atNs, later.write.atNs, evidence);
  // It may have come back without the write, and another have taken that over from it.
  const byNs = Math.min(promoted?.[1].atNs ?? later.write.atNs, readBack?.fromNs ?? Number.POSITIVE_INFINITY);
  if (ranAnew(from, earlier.write.atNs, byNs, evidence)) return undefined;
  if (!returned && mayHaveGoneThere(contest, evidence, byNs)) return undefined;
  const without = withoutWrite(contest, evidence, asReplica[1].atNs);
  if (!without) return undefined;
  const replaced = returned ? `${from} was made a replica and primary again` : `${to} replaced ${from} as primary`;
  return {
    name: 'failover-lost-write',
    sentence: `${replaced} without ${earlier.hold.client}'s ${key}, and granted it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      ...cutLink(contest, evidence),
      { atNs: asReplica[1].atNs, text: `${to} ${WAS_REPLICA}`, observation: asReplica[0] },
      promoted
        ? { atNs: promoted[1].atNs, text: `${to} was primary`, observation: promoted[0] }
        : { atNs: later.write.atNs, text: `${to} served a write as primary`, observation: later.write.observation },
      ...(readBack ? [{ atNs: readBack.fromNs, text: readBack.record.did, history: readBack.record.i }] : []),
      without,
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

export const splitBrain: Reason = (contest, evidence) => {
  const { earlier, later, key } = contest;
  const [fresh, old] = [earlier.write.node, later.write.node];
  if (contest.reached || mayHaveMoved(contest, evidence)) return undefined;
  const asReplica = evidence.lastAsReplica(fresh, ranBy(earlier));
  if (!asReplica) return undefined;
  if (!isNewer(asReplica[1], old, later, evidence)) return undefined;
  // It was looked at after the other had been its replica for the last time: it still took itself for primary.
  const believed = evidence.samples(old, asReplica[1].atNs, ranBy(later)).at(-1);
  if (!believed || mayHaveGoneThere(contest, evidence, ranBy(later))) return undefined;
  const without = withoutWrite(contest, evidence, asReplica[1].atNs);
  if (!without) return undefined;
  return {
    name: 'split-brain',
    sentence: `${fresh} had replaced ${old} as primary and granted ${key} to ${earlier.hold.client}; ${old}, still taking itself for primary, granted it to ${later.hold.client}.`,
    chain: [
      { atNs: asReplica[1].atNs, text: `${fresh} was a replica for the last time`, observation: asReplica[0] },
      ...cutLink(contest, evidence),
      grantLink(earlier),
      { atNs: believed[1].atNs, text: `${old} took itself for primary`, observation: believed[0] },
      without,
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

/**
 * Whether the two may be of different shards: then neither ever took the other's place. A slot that was moved says that its
 * keys were granted by nodes of both.
 */
export function mayHaveMoved({ earlier, later }: Contest, { effects }: Evidence): boolean {
  const untilNs = Math.max(ranBy(earlier), ranBy(later));
  return effects.spans('slot-moves').some(({ earliestNs }) => earliestNs <= untilNs);
}

/**
 * Whether a node that was a replica at a look, and primary later, was made primary after the one that granted this: that was
 * before the look, or that one had been primary from the look on. Where nobody had looked at that one before, from the first look at
 * it on, if that came soon: else two would have been made primary in the place of another one after the other at once.
 */
export function isNewer(look: SampleObservation, other: string, grant: Party, evidence: Evidence): boolean {
  const lookedNs = look.atNs - ANSWERED_WITHIN_NS;
  const grantedNs = ranBy(grant);
  const seen = evidence.lastSample(other, lookedNs) ? undefined : evidence.firstSample(other, lookedNs, () => true);
  const fromNs = seen && seen[1].atNs <= look.atNs + ANSWERED_WITHIN_NS ? seen[1].atNs : lookedNs;
  return grantedNs < lookedNs || wasPrimaryThroughout(other, fromNs, grantedNs, evidence);
}

/**
 * What shows that the later grant's node did not have the earlier write: a sample of it as primary without the value, while
 * the lease ran; or every command that it ran since, none of them that write; or that nothing could come there. A sample that does
 * show it refutes.
 */
function withoutWrite(contest: Contest, evidence: Evidence, sinceNs: number): CauseLink | undefined {
  const { earlier, later, key } = contest;
  const { node } = later.write;
  // What was granted was stored.
  const value = earlier.write.value!;
  if (mayHaveStoredThere(contest, evidence)) return undefined;
  const fromNs = Math.max(earlier.write.atNs, sinceNs);
  const untilNs = Math.min(ranBy(later), earlier.hold.leaseEndNs);
  const returned = node === earlier.write.node;
  if (evidence.seenStored(node, key, value, returned ? fromNs : earlier.write.atNs, untilNs)) return undefined;
  const came = returned ? !neverCame(contest, evidence, fromNs) : mayHaveCome(contest, evidence, fromNs);
  if (came) return undefined;
  const sample = evidence
    .samples(node, fromNs, untilNs)
    .find(
      ([, { role, keys, unseen }]) =>
        role === 'primary' && !unseen?.includes(key) && (keys[key] === undefined || !isHidden(keys[key].owner)),
    );
  if (sample) {
    const instead = sample[1].keys[key] === undefined ? `had no ${key}` : `had another owner for ${key}`;
    return { atNs: sample[1].atNs, text: `${node}, as primary, ${instead}`, observation: sample[0] };
  }
  if (returned) return undefined;
  if (evidence.watchedThroughout(node, earlier.hold.grantSentNs, later.write.atNs))
    return {
      atNs: later.write.atNs,
      text: `${node} was watched from ${moment(earlier.hold.grantSentNs)} on and never got ${earlier.hold.client}'s write`,
      observation: later.write.observation,
    };
  const apart = whyApart(contest, evidence, fromNs)?.[0];
  return (
    apart && {
      atNs: earlier.write.atNs,
      text: `nothing that ${earlier.write.node} sent then came to ${node}, by whatever way (${apart.record.fault})`,
      history: apart.record.i,
    }
  );
}

/**
 * Whether the node that a primary was made a replica of never had the owner: it was primary meanwhile and watched since before that
 * was granted, and neither the link nor any client stored it there. Until then nothing removed the key from the one that had it, and
 * its time was not over.
 */
function neverCame({ earlier, later, key, tenure }: Contest, evidence: Evidence, asReplicaNs: number): boolean {
  const { node, value } = earlier.write;
  if (!lostBy(tenure, 'gap')) return false;
  const asReplica = evidence.samples(node, earlier.write.atNs, asReplicaNs).find(([, { role }]) => role === 'replica');
  if (!asReplica || !hadTimeLeft(earlier.write, asReplica[1], evidence)) return false;
  const primaries = evidence.nodes.filter(
    (other) =>
      other !== node &&
      evidence.samples(other, earlier.write.atNs, asReplicaNs).some(([, { role }]) => role === 'primary'),
  );
  // Of several it may have followed any, and one that had it may have lost it.
  return (
    primaries.length > 0 &&
    primaries.every(
      (other) =>
        evidence.watchedThroughout(other, earlier.hold.grantSentNs, later.write.atNs) &&
        !evidence.writes(other, key).some((write) => write.took !== false && write.value === value) &&
        !evidence.seenStored(other, key, value, earlier.hold.grantSentNs, later.write.atNs),
    )
  );
}

/** What kept the write from travelling: the two nodes were cut from each other about when it was made. */
function cutLink({ earlier, later }: Contest, { effects }: Evidence): CauseLink[] {
  const [from, to] = [earlier.write.node, later.write.node];
  const span = effects
    .between(from, to)
    .find(({ earliestNs, latestNs }) => earliestNs <= earlier.hold.fromNs && latestNs >= earlier.hold.grantSentNs);
  if (!span) return [];
  const { atNs, fault, did, i } = span.record;
  return [{ atNs, text: `${from} could not reach ${to} (${fault}: ${did})`, history: i }];
}
