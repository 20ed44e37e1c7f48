/**
 * The server that had granted the lock threw its key away because its memory was full. The server's own event says so, in
 * its place among the server's commands: it was the first thing that may have taken the key.
 *
 * Excludes an eviction of another client's key under the same name, one before the first grant, and one that the observer
 * did not hear of. A replica is told to delete what its primary evicts; that deletion counts where the primary's event is seen.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { goneLink, grantLink, leaseLink, type Reason } from './contest.js';

export const evicted: Reason = (contest, evidence) => {
  const { earlier, later, key, reached, followed, tenure } = contest;
  const [loss] = tenure.losses;
  if (!reached || loss?.how !== 'evicted') return undefined;
  const { node } = reached;
  const again = later.write.node === node ? 'granted' : `${later.write.node} granted`;
  return {
    name: 'evicted',
    sentence: `${node} evicted ${earlier.hold.client}'s ${key} because its memory was full, and ${again} it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      ...pressureLink(node, loss.atNs, evidence),
      {
        atNs: loss.atNs,
        text: `${node} evicted ${key}, ${earlier.hold.client}'s: its memory was full`,
        observation: loss.line,
      },
      ...(followed
        ? [
            {
              atNs: followed.atNs,
              text: `${followed.node} deleted it, as its primary had (${followed.command})`,
              observation: followed.observation,
            },
          ]
        : []),
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

/** What filled the memory, if a fault did. */
function pressureLink(node: string, atNs: number, { effects }: Evidence): CauseLink[] {
  const span = effects.on('short-of-memory', node).find((one) => one.earliestNs <= atNs && one.latestNs >= atNs);
  return span ? [{ atNs: span.record.atNs, text: span.record.did, history: span.record.i }] : [];
}
