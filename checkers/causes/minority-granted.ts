/**
 * A client got the answer that it holds the lock although fewer than a majority of the independent nodes granted it.
 *
 * Counts every node that may have granted: one whose answer is unknown, and one that was not watched meanwhile.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { listed, moment } from '../../harness/record/facts/words.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';

export function minorityGranted(overlap: Overlap, evidence: Evidence): Cause | undefined {
  const { majority } = evidence;
  if (majority === undefined) return undefined;
  for (const hold of [overlap.first, overlap.second]) {
    const grants = evidence.grantsOf(hold);
    const refused = grants.filter((grant) => grant.took === false);
    const granted = grants.filter((grant) => grant.took === true);
    if (granted.length === 0 || mayHaveGranted(hold, evidence) >= majority) continue;
    return {
      name: 'minority-granted',
      sentence: `${hold.client} was told that it holds ${hold.key}, but only ${listed(granted.map(({ node }) => node))} granted it; a majority is ${majority}.`,
      chain: [
        ...granted.map(({ node, write }) => ({
          atNs: write.atNs,
          text: `${node} granted it to ${hold.client}`,
          observation: write.observation,
        })),
        ...refused.map(({ node, write }) => ({
          atNs: write.atNs,
          text: `${node} refused it: somebody else's key was there`,
          observation: write.observation,
        })),
        {
          atNs: hold.fromNs,
          text: `${hold.client} was told at ${moment(hold.fromNs)} that it holds the lock`,
          history: hold.evidence.at(1),
        },
      ],
    };
  }
  return undefined;
}

function mayHaveGranted(hold: Hold, evidence: Evidence): number {
  return evidence.nodes.filter((node) => {
    const grant = evidence.grantsOf(hold).find((one) => one.node === node);
    if (grant) return grant.took !== false;
    return !evidence.watchedThroughout(node, hold.grantSentNs, hold.fromNs);
  }).length;
}
