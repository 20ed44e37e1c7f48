/**
 * The server that had granted the lock threw its key away because its memory was full. The server's own event says so, in
 * its place among the server's commands: after the first grant, before anything else took or removed the key, and before
 * the second grant.
 *
 * Excludes an eviction of another client's key under the same name, one before the first grant, and one that the observer
 * did not hear of. A replica is told to delete what its primary evicts; that deletion counts where the primary's event comes
 * with it.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, keeps } from '../../harness/record/facts/key-writes.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { type Contest, goneLink, grantLink, leaseLink, type Reason } from './contest.js';

/** A primary tells its replicas of what it evicts at once, but it is read on another connection. */
const REPLICATED_WITHIN_NS = 1e9;

export const evicted: Reason = (contest, evidence) => {
  const { earlier, later, key } = contest;
  const found = onTheSameNode(contest, evidence) ?? onItsPrimary(contest, evidence);
  if (!found) return undefined;
  const { node } = found.of;
  const again = later.write.node === node ? 'granted' : `${later.write.node} granted`;
  return {
    name: 'evicted',
    sentence: `${node} evicted ${earlier.hold.client}'s ${key} because its memory was full, and ${again} it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      ...pressureLink(node, found.atNs, evidence),
      {
        atNs: found.atNs,
        text: `${node} evicted ${key}, ${earlier.hold.client}'s: its memory was full`,
        observation: found.observation,
      },
      ...(found.deleted
        ? [
            {
              atNs: found.deleted.atNs,
              text: `${found.deleted.node} deleted it, as its primary had (${found.deleted.command})`,
              observation: found.deleted.observation,
            },
          ]
        : []),
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

interface Eviction {
  /** The write that stored what was evicted. */
  of: KeyWrite;
  observation: number;
  atNs: number;
  /** The deletion on a replica that it led to. */
  deleted?: KeyWrite;
}

/** The node that granted the second holder had the first one's key, and evicted it. */
function onTheSameNode({ reached, gone, key }: Contest, evidence: Evidence): Eviction | undefined {
  const found = reached && evictionOf(reached, key, evidence);
  return found && found.observation < gone.observation ? found : undefined;
}

/** The first holder's primary evicted the key, and so its replica deleted it, which granted the second holder later. */
function onItsPrimary({ earlier, reached, removal, key }: Contest, evidence: Evidence): Eviction | undefined {
  if (!reached || !removal || removal.client !== undefined || removal.node === earlier.write.node) return undefined;
  if (evidence.lastSample(removal.node, removal.atNs)?.[1].role !== 'replica') return undefined;
  const found = evictionOf(earlier.write, key, evidence);
  if (!found || Math.abs(removal.atNs - found.atNs) > REPLICATED_WITHIN_NS) return undefined;
  return { ...found, deleted: removal };
}

/** The eviction of what `write` stored: nothing else may have taken or removed the key before. */
function evictionOf(write: KeyWrite, key: string, evidence: Evidence): Eviction | undefined {
  const found = evidence.firstEviction(write, key);
  if (!found) return undefined;
  const [observation, { atNs }] = found;
  const other = evidence
    .writes(write.node, key)
    .some(
      (one) =>
        one.observation > write.observation &&
        one.observation < observation &&
        (one.effect === 'remove' || one.effect === 'take') &&
        one.took !== false &&
        !keeps(one, write.value),
    );
  return other || !evidence.watchedThroughout(write.node, write.atNs, atNs)
    ? undefined
    : { of: write, observation, atNs };
}

/** What filled the memory, if a fault did. */
function pressureLink(node: string, atNs: number, { effects }: Evidence): CauseLink[] {
  const span = effects.on('short-of-memory', node).find((one) => one.earliestNs <= atNs && one.latestNs >= atNs);
  return span ? [{ atNs: span.record.atNs, text: span.record.did, history: span.record.i }] : [];
}
