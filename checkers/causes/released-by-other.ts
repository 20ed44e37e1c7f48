/**
 * Somebody else removed the holder's key: the plain DEL of a holder whose lease had ended (`released-by-other`), or a
 * compare-and-delete that was let through because both had stored the same value (`shared-owner`).
 *
 * Excludes a removal by the holder's own client, one of which it is not certain that the holder's own value was there
 * and is gone by it (the client may have removed what was its own, or nothing), one before which a clock that was moved
 * may have ended the key, one by such a clock: of a script that may have gone by it, or by a time of day that was past
 * by it; and one that came over the replication link unless the client's command that caused it is seen where the key
 * was granted: a server also replicates the removal of a key that expired.
 */

import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, ownerIs } from '../../harness/record/facts/key-writes.js';
import { type Contest, goneLink, grantLink, type Reason } from './contest.js';
import {
  gainedMsBetween,
  isByRightClocks,
  isReplicated,
  lastProlonged,
  mayHaveBeenOver,
  READING_MS,
} from './meanwhile.js';
import { requestLine } from './tenure.js';
import { mayGoByWrongClock } from './told-time.js';

export const releasedByOther: Reason = (contest, evidence) => {
  const removal = removalOf(contest, evidence);
  const { earlier, later, key } = contest;
  if (!removal || removal.client === earlier.hold.client || isReplicated(removal, evidence)) return undefined;
  if (mayHaveEnded(contest, removal, evidence)) return undefined;
  // What was given until a time of day ended at once where that was past: by a clock that was off it may not have been.
  if (!isByRightClocks(contest.tenure.losses[0]!.by!, removal.ranNs, evidence)) return undefined;
  const who = removal.client ?? `somebody at ${removal.source}`;
  const shared = removal.comparing ? sharedValue(contest, removal, evidence) : undefined;
  if (!shared && mayGoByClock(contest, removal, evidence)) return undefined;
  return {
    name: shared ? 'shared-owner' : 'released-by-other',
    sentence: shared
      ? `${who} released ${key} although ${earlier.hold.client} held it: both had ${shared.took ? 'stored' : 'asked with'} the same value as owner.`
      : `${who} removed ${earlier.hold.client}'s ${key} from ${removal.node} (${removal.command}), which let ${later.hold.client} have it.`,
    chain: [
      ...(shared
        ? [
            {
              atNs: shared.atNs,
              text: `${who} had ${shared.took ? 'stored' : 'asked with'} the same value as ${earlier.hold.client}`,
              observation: shared.observation,
            },
          ]
        : []),
      grantLink(earlier),
      {
        atNs: removal.atNs,
        text: `${who} removed it with ${removal.command}, before that lease had ended`,
        observation: removal.observation,
      },
      ...goneLink(contest),
      grantLink(later),
    ],
  };
};

/** Whether a clock that jumped, and was set right before anybody looked, may have taken the key before it was removed. */
function mayHaveEnded(contest: Contest, { node, atNs }: KeyWrite, evidence: Evidence): boolean {
  const { last } = lastProlonged(contest.reached!, contest, evidence);
  if (!mayHaveBeenOver(last, node, atNs, evidence)) return false;
  const shown = evidence.samples(node, last.atNs, atNs).findLast(([, { keys }]) => {
    const stored = keys[contest.key];
    return stored !== undefined && ownerIs(stored.owner, contest.reached!.value);
  });
  return !shown || evidence.clockGains(node, shown[1].atNs, atNs).length > 0;
}

/**
 * Whether by its server's clock, which had come ahead by that, the lease was over, or by a client's that was off. A record may say of each
 * holder until when it holds: who takes out by a score goes by that, and a script may.
 */
export function mayGoByClock(contest: Contest, removal: KeyWrite, evidence: Evidence): boolean {
  const { earlier, tenure } = contest;
  if (!removal.script && tenure.losses[0]!.by!.name !== 'ZREMRANGEBYSCORE') return false;
  const gainedMs = gainedMsBetween(removal.node, earlier.write.ranNs, removal.atNs, evidence);
  const isOver = gainedMs !== undefined && gainedMs >= (earlier.hold.leaseEndNs - removal.ranNs) / 1e6 - READING_MS;
  return isOver || mayGoByWrongClock(contest, removal, evidence);
}

/** The command that certainly removed the holder's own value, where one did. */
export function removalOf({ reached, tenure, key }: Contest, evidence: Evidence): KeyWrite | undefined {
  const [loss] = tenure.losses;
  if (!reached?.value || loss?.how !== 'command' || stores(loss.after, reached.value) !== 'no') return undefined;
  const line = requestLine(loss.by!);
  return evidence
    .writes(reached.node, key)
    .find(({ observation, effect }) => observation === line && effect === 'remove');
}

/**
 * The remover's own take, if it had stored the holder's value, or was to, and the script that removed it was told it as well: one that
 * only read what is there before it deleted that took nobody for another. Some scripts put an owner together from what they are told.
 */
function sharedValue({ earlier, key }: Contest, removal: KeyWrite, evidence: Evidence): KeyWrite | undefined {
  const take = removal.client === undefined ? undefined : evidence.lastTakeOf(removal.client, removal, key);
  const { value } = earlier.write;
  if (take?.value === undefined || take.value !== value) return undefined;
  const isTold = (request: KeyWrite) => evidence.argvOf(request)?.includes(value) === true;
  return isTold(removal) || !isTold(take) ? take : undefined;
}
