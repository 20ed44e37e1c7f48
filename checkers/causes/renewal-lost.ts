/**
 * `failover-lost-renewal`: the node that took over had the grant, and not the time that its client was given since by the
 * node that it replaced; so its time was over there, and the next client was granted it.
 *
 * Example: r1 grants c1 a lease of 5 s at 1 s, and is cut off from its replica r2 at 2 s; c1 renews at 3 s, and r1 says yes. r2 is
 * promoted at 4 s. By 6 s c1's time is over on r2, which grants it to c2; by its renewal c1 holds it until 8 s.
 *
 * Excludes a renewal that came to the new node, or may have, a time that was too short by itself, and one that was not over by the
 * machine's clock: then that of a server had moved.
 */
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, ownerIs, type SampleObservation } from '../../harness/record/facts/key-writes.js';
import { type Contest, goneLink, grantLink, leaseLink, type Reason, ranBy, ranFrom } from './contest.js';
import { isNewer, mayHaveMoved } from './failover.js';
import { BLUR_MS, foundNone, isReplicated, lastProlonged, READING_MS } from './meanwhile.js';
import { lostBy } from './tenure.js';

export const failoverLostRenewal: Reason = (contest, evidence) => {
  const { earlier, later, reached, gone, key, tenure, followed } = contest;
  const [from, to] = [earlier.write.node, later.write.node];
  const { client } = earlier.hold;
  if (from === to || !reached || followed || !isReplicated(reached, evidence) || mayHaveMoved(contest, evidence))
    return undefined;
  // Nothing else can have taken it, and somebody found it gone.
  if (gone.node !== to || !lostBy(tenure, 'expired') || !foundNone(contest)) return undefined;
  const { origin, last } = lastProlonged(reached, contest, evidence);
  if (!origin || !wasOver(origin, contest)) return undefined;
  const seen = lastSeen(reached, contest, evidence);
  if (!seen || !showsEndOf(last, seen[1], contest) || !evidence.watchedThroughout(to, seen[1].atNs, gone.atNs))
    return undefined;
  const renewal = lostRenewal(origin, contest, evidence);
  if (!renewal) return undefined;
  const asReplica = evidence.lastAsReplica(to, ranBy(later));
  if (!asReplica || !isNewer(asReplica[1], from, earlier, evidence)) return undefined;
  const promoted = evidence.firstSample(to, asReplica[1].atNs, ({ role }) => role === 'primary');
  if (!promoted || promoted[1].atNs > gone.atNs) return undefined;
  return {
    name: 'failover-lost-renewal',
    sentence: `${to} replaced ${from} as primary without the time that ${from} had given ${client}'s ${key} since: it was over there, and ${to} granted it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      { atNs: reached.atNs, text: `${to} stored it, too`, observation: reached.observation },
      {
        atNs: seen[1].atNs,
        text: `${to} had it for another ${seen[1].keys[key]!.pttlMs} ms`,
        observation: seen[0],
      },
      {
        atNs: renewal.atNs,
        text: `${from} gave ${client}'s ${key} more time (${renewal.command})`,
        observation: renewal.observation,
      },
      { atNs: asReplica[1].atNs, text: `${to} was a replica`, observation: asReplica[0] },
      { atNs: promoted[1].atNs, text: `${to} was primary`, observation: promoted[0] },
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

/**
 * Whether the last time that came to the new node was a whole lease, and over by the machine's clock when the next one came, who may
 * have been waiting for just that.
 */
function wasOver({ ttlMs, untilTimeOfDay, ranNs, atNs }: KeyWrite, { earlier, gone }: Contest): boolean {
  if (ttlMs === undefined || untilTimeOfDay || ttlMs < earlier.hold.leaseMs * 0.9) return false;
  return (ranFrom(gone) - Math.max(ranNs, atNs)) / 1e6 > ttlMs - READING_MS;
}

/** The last look at the new node that shows it there. */
function lastSeen(reached: KeyWrite, { gone, key }: Contest, evidence: Evidence) {
  return evidence
    .samples(gone.node, reached.atNs, gone.atNs)
    .findLast(([, { keys }]) => keys[key] !== undefined && ownerIs(keys[key].owner, reached.value));
}

/** Whether what was looked at was to end when that write said, and had by the server's own clock when the next one came. */
function showsEndOf({ expiresWallMs }: KeyWrite, { wallMs, keys }: SampleObservation, { key, gone }: Contest): boolean {
  if (!wallMs) return false;
  const [fromMs, untilMs] = wallMs.map((ms) => ms + keys[key]!.pttlMs) as [number, number];
  const isIt = expiresWallMs >= fromMs - READING_MS && expiresWallMs <= untilMs + READING_MS;
  return isIt && gone.serverWallMs > expiresWallMs - BLUR_MS;
}

/** By which the holder would have had it still, and which the old node had carried out: it was seen there afterwards. */
function lostRenewal(origin: KeyWrite, { earlier, gone, key }: Contest, evidence: Evidence): KeyWrite | undefined {
  const { node, value } = earlier.write;
  return evidence
    .writes(node, key)
    .find(
      (write) =>
        write.observation > origin.observation &&
        write.effect === 'prolong' &&
        write.client === earlier.hold.client &&
        write.atNs < gone.atNs &&
        ranFrom(write) + ((write.ttlMs ?? 0) - READING_MS) * 1e6 > gone.atNs &&
        evidence.seenStored(node, key, value, write.atNs, gone.atNs) !== undefined,
    );
}
