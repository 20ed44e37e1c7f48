/**
 * A client got the answer that it holds the lock although fewer of the independent nodes granted it than it takes: a majority, or
 * all of them by the lock's own word.
 *
 * Counts every node that may have granted (`votes.ts`): one whose answer is not known, one that was not watched meanwhile, one
 * that may have kept what the client had stored before. Not one that was dead, stopped or out of reach for the whole attempt.
 *
 * Excludes nodes that replicate (a node's vote may have come from another server of it), permits, readers, a hold that its
 * client stored on enough nodes before the other one was granted, and a client that held the key already, to which it may rightly be granted again with fewer nodes or none.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isNested } from '../../harness/record/facts/hold-order.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { listed, moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { ranFrom } from './contest.js';
import { ONE_OWNER } from './never-stored.js';
import { mayHaveGranted, whyNoVote } from './votes.js';

export function minorityGranted(
  overlap: Overlap,
  evidence: Evidence,
  { history, model }: Pick<CheckInput, 'history' | 'model'>,
): Cause | undefined {
  const { majority } = evidence;
  if (majority === undefined || evidence.serversOfVoters || !ONE_OWNER.has(model.kind)) return undefined;
  for (const hold of [overlap.first, overlap.second]) {
    if (isNested(history, hold)) continue;
    const voters = evidence.voters.filter((node) => mayHaveGranted(node, hold, evidence));
    const granted = evidence.grantsOf(hold).filter(({ node, took }) => took === true && voters.includes(node));
    if (granted.length === 0 || voters.length >= majority) continue;
    if (hold === overlap.first && hadMajorityLater(voters, overlap, evidence)) continue;
    return {
      name: 'minority-granted',
      sentence: `${hold.client} was told that it holds ${hold.key}, but only ${listed(voters)} ${everyoneGranted(voters, granted) ? 'granted' : 'can have granted'} it; it takes ${majority}.`,
      chain: [
        ...granted.map(({ node, write }) => ({
          atNs: write.atNs,
          text: `${node} granted it to ${hold.client}`,
          observation: write.observation,
        })),
        ...noVoteLinks(hold, voters, evidence),
        {
          atNs: hold.fromNs,
          text: `${hold.client} was told at ${moment(hold.fromNs)} that it holds the lock`,
          history: hold.evidence.at(1),
        },
      ].sort((a, b) => a.atNs - b.atNs),
    };
  }
  return undefined;
}

/**
 * Whether a hold may have been on a majority after all when the next one was granted: an extension may store it where it is missing,
 * and then it is by what befell it there that the next one got in.
 */
function hadMajorityLater(voters: readonly string[], { first, second }: Overlap, evidence: Evidence): boolean {
  const { client, key, fromNs } = first;
  const mayHaveStored = (node: string) =>
    evidence
      .writes(node, key)
      .some(
        (write) =>
          write.client === client &&
          write.effect === 'take' &&
          write.took !== false &&
          write.atNs > fromNs &&
          ranFrom(write) <= second.fromNs,
      );
  return evidence.voters.filter((node) => voters.includes(node) || mayHaveStored(node)).length >= evidence.majority!;
}

function everyoneGranted(voters: readonly string[], granted: readonly { node: string }[]): boolean {
  return voters.every((voter) => granted.some(({ node }) => node === voter));
}

/** Why the other nodes did not grant it; nothing for those that were asked for nothing. */
function noVoteLinks(hold: Hold, voters: readonly string[], evidence: Evidence): CauseLink[] {
  const others = evidence.voters.filter((node) => !voters.includes(node));
  const effects = new Set(others.flatMap((node) => whyNoVote(node, hold, evidence) ?? []).map(({ record }) => record));
  return [
    ...[...effects].map(({ atNs, did, i }) => ({ atNs, text: did, history: i })),
    ...others.flatMap((node) => {
      const write = evidence.grantsOf(hold).find((grant) => grant.node === node)?.write;
      if (!write || whyNoVote(node, hold, evidence)) return [];
      const text = `${node} refused it: another owner's value was there`;
      return [{ atNs: write.atNs, text, observation: write.observation }];
    }),
  ];
}
