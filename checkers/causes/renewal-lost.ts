/**
 * `failover-lost-renewal`: the node that took over had the grant, and not the time that its client was given since by the
 * node that it replaced; so its time was over there, and the next client was granted it.
 *
 * Example: r1 grants c1 a lease of 5 s at 1 s, and is cut off from its replica r2 at 2 s; c1 renews at 3 s, and r1 says yes. r2 is
 * promoted at 4 s. By 6 s c1's time is over on r2, which grants it to c2; by its renewal c1 holds it until 8 s.
 *
 * How the grant had come to the new node is no matter: by a command over the link, or with all that its primary had, which shows in
 * no command. What counts is the last look at it there, and that it had been given its end by the old node.
 *
 * Excludes what was gone from the old node by then; a renewal that came to the new node, or may have, a time that was too short by itself, and one that was not over by the
 * machine's clock: then that of a server had moved.
 */
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, ownerIs, type SampleObservation } from '../../harness/record/facts/key-writes.js';
import { mayHaveGoneThere } from './came.js';
import {
  type Contest,
  firstTaken,
  goneLink,
  grantLink,
  leaseLink,
  type Reason,
  ranBy,
  ranFrom,
  wasOver,
} from './contest.js';
import { isNewer, mayHaveMoved } from './failover.js';
import { WAS_REPLICA } from './losses.js';
import { BLUR_MS, foundNone, isReplicated, lastProlonged, READING_MS } from './meanwhile.js';
import { lostBy, requestLine, tenureOf } from './tenure.js';

export const failoverLostRenewal: Reason = (contest, evidence) => {
  const { earlier, later, followed, key } = contest;
  const [from, to] = [earlier.write.node, later.write.node];
  const { client } = earlier.hold;
  if (from === to || followed || mayHaveMoved(contest, evidence)) return undefined;
  const copy = copied(contest, evidence);
  if (!copy) return undefined;
  const { reached, gone } = copy;
  const { origin, last } = lastGiven(copy, contest, evidence);
  if (!origin || !wasOver(origin, { earlier, gone }, evidence)) return undefined;
  const seen = lastSeen(copy, key, evidence);
  if (!seen || !showsEndOf(last, seen[1], key, gone) || !evidence.watchedThroughout(to, seen[1].atNs, gone.atNs))
    return undefined;
  // Nothing else can have taken it, and somebody found it gone.
  const tenure = tenureOf(reached, earlier, evidence, gone, seen[1].atNs);
  if (gone.node !== to || !lostBy(tenure, 'expired') || !foundNone(copy)) return undefined;
  const renewal = lostRenewal(origin, contest, gone, evidence);
  if (!renewal) return undefined;
  const asReplica = evidence.lastAsReplica(to, ranBy(later));
  if (!asReplica || !isNewer(asReplica[1], from, earlier, evidence)) return undefined;
  const promoted = evidence.firstSample(to, asReplica[1].atNs, ({ role }) => role === 'primary');
  if (!promoted || promoted[1].atNs > gone.atNs) return undefined;
  const byNs = Math.max(promoted[1].atNs, renewal.atNs);
  if (mayHaveGoneThere(contest, evidence, byNs) || wasShortened(renewal, contest, gone, byNs, evidence))
    return undefined;
  return {
    name: 'failover-lost-renewal',
    sentence: `${to} replaced ${from} as primary without the time that ${from} had given ${client}'s ${key} since: it was over there, and ${to} granted it to ${later.hold.client}.`,
    chain: [
      grantLink(earlier),
      {
        atNs: reached.atNs,
        text: `${to} ${copy.isLoaded ? 'was seen to have' : 'stored'} it, too`,
        observation: reached.observation,
      },
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
      { atNs: asReplica[1].atNs, text: `${to} ${WAS_REPLICA}`, observation: asReplica[0] },
      { atNs: promoted[1].atNs, text: `${to} was primary`, observation: promoted[0] },
      ...goneLink({ ...contest, gone }),
      grantLink(later),
      leaseLink(earlier),
    ].sort((a, b) => a.atNs - b.atNs),
  };
};

/** The grant as the new node had it, and who first took it there. */
interface Copy {
  reached: KeyWrite;
  gone: KeyWrite;
  /** No command stored it: it came with all that the primary had, and `reached` is the first look that shows it. */
  isLoaded: boolean;
}

function copied({ earlier, later, reached, gone, key }: Contest, evidence: Evidence): Copy | undefined {
  if (reached) return isReplicated(reached, evidence) ? { reached, gone, isLoaded: false } : undefined;
  const { hold, write } = earlier;
  const { node, atNs } = later.write;
  const look = evidence.seenStored(node, key, write.value, hold.grantSentNs, atNs);
  const isAsked = evidence.writes(node, key).some(({ client, value }) => client !== undefined && value === write.value);
  if (look?.[1].role !== 'replica' || isAsked) return undefined;
  const loaded = evidence.loadedWrite(look, hold, write.value!);
  return { reached: loaded, gone: firstTaken(loaded, earlier, later.write, evidence), isLoaded: true };
}

/**
 * The write from which the time on the new node was reckoned last. Of what it had loaded: that of the old node, by the holder, of
 * which the look shows the end.
 */
function lastGiven({ reached, gone, isLoaded }: Copy, { earlier, key }: Contest, evidence: Evidence) {
  const given = lastProlonged(reached, { earlier, gone, key }, evidence);
  if (!isLoaded || given.last !== reached) return given;
  const look = evidence.samples(reached.node, reached.atNs, reached.atNs)[0]![1];
  const { node, observation } = earlier.write;
  const asked = evidence
    .writes(node, key)
    .filter((write) => write === earlier.write || (write.observation > observation && write.effect === 'prolong'))
    .filter((write) => isEndOf(write, look, key));
  const isOwn = asked.every(({ client }) => client === earlier.hold.client);
  return { last: asked.at(-1) ?? reached, origin: isOwn ? asked.at(-1) : undefined };
}

/** The last look at the new node that shows it there. */
function lastSeen({ reached, gone }: Copy, key: string, evidence: Evidence) {
  return evidence
    .samples(gone.node, reached.atNs, gone.atNs)
    .findLast(([, { keys }]) => keys[key] !== undefined && ownerIs(keys[key].owner, reached.value));
}

/** Whether what was looked at was to end when that write said, and had by the server's own clock when the next one came. */
function showsEndOf(last: KeyWrite, look: SampleObservation, key: string, gone: KeyWrite): boolean {
  return isEndOf(last, look, key) && gone.serverWallMs > last.expiresWallMs - BLUR_MS;
}

/** Whether what was looked at was to end when a write said. */
function isEndOf({ expiresWallMs }: KeyWrite, { wallMs, keys }: SampleObservation, key: string): boolean {
  if (!wallMs) return false;
  const [fromMs, untilMs] = wallMs.map((ms) => ms + keys[key]!.pttlMs) as [number, number];
  return expiresWallMs >= fromMs - READING_MS && expiresWallMs <= untilMs + READING_MS;
}

/** By which the holder would have had it still, and which the old node had carried out: it was seen there afterwards. */
function lostRenewal(origin: KeyWrite, { earlier, key }: Contest, gone: KeyWrite, evidence: Evidence) {
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

/** Whether, after that renewal and before the takeover, the old node was given a time by which it would have been over as well. */
function wasShortened(
  renewal: KeyWrite,
  { earlier, key }: Contest,
  gone: KeyWrite,
  byNs: number,
  evidence: Evidence,
): boolean {
  const { node } = earlier.write;
  const changes = evidence.readingOf(node)!.changes(key).list;
  const last = changes.findLast(
    ({ how, by, before, after, ranFromNs }) =>
      how === 'command' && by !== undefined && before.expires !== after.expires && ranFromNs <= byNs,
  );
  if (!last?.by || requestLine(last.by) <= renewal.observation) return false;
  const lastsMs = last.after.expires.fromMs - last.by.serverWallMs;
  return last.ranFromNs + (lastsMs - READING_MS) * 1e6 <= gone.atNs;
}
