/**
 * Whether a write that one node of a replicated deployment had made may have come to another one unseen: by a command over
 * the link, or with all that its primary had, which is loaded as a whole and shows in no command.
 *
 * Example: c1's key is overwritten on r2, the new primary, and r1, the old one, is made its replica after that. r1 never
 * runs c1's write, and yet what r1 lacks was lost by the overwriting.
 *
 * So it had not come where the node was watched, and was seen to load nothing; or where no other node had lost the key, which
 * the node would have loaded with the rest, nor that node itself once it had loaded it; or where faults kept everything from
 * it, or everything that the first one sent from everybody, all that time.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, removes } from '../../harness/record/facts/key-writes.js';
import { type Contest, ranBy, ranFrom } from './contest.js';
import {
  BLUR_MS,
  isReplicated,
  keptItsData,
  mayHaveBeenOver,
  ranAnew,
  UNSEEN_NS,
  wasPrimaryThroughout,
} from './meanwhile.js';

/** Whether the earlier grant's write may have come to the later one's node by then, and gone again before the later grant. */
export function mayHaveCome(contest: Contest, evidence: Evidence, byNs: number): boolean {
  const { earlier, later, key } = contest;
  const { node } = later.write;
  if (whyApart(contest, evidence, byNs)) return false;
  // Servers that are promoted may break off with whom they serve: by then the write had not come.
  if (!evidence.watchedThroughout(node, earlier.hold.grantSentNs, byNs)) return true;
  // A write whose time was over by this node's clock when it came here removed what was there.
  const { observation } = later.write;
  const removedByIt = evidence
    .writes(node, key)
    .some(
      (write) =>
        write.effect === 'remove' &&
        write.command === 'SET' &&
        write.atNs >= earlier.hold.grantSentNs &&
        write.observation < observation &&
        isReplicated(write, evidence),
    );
  if (removedByIt) return true;
  // What came just before a server was killed is in no record, and the server may have forgotten it by that.
  if (ranAnew(node, earlier.write.atNs, ranBy(later), evidence)) return true;
  if (keptItsData(node, earlier.write.atNs, ranBy(later), evidence)) return false;
  const untilNs = lastToLoad(contest, evidence, byNs);
  return (
    evidence.nodes.some((other) => other !== node && mayHaveLost(other, contest, evidence, untilNs)) ||
    mayHaveLostItself(contest, evidence, byNs)
  );
}

/** Whether the later grant's node may have lost the key itself when it had loaded it, before a look at it as primary that shows none. */
function mayHaveLostItself(contest: Contest, evidence: Evidence, byNs: number): boolean {
  const { earlier, later, key } = contest;
  const { node, observation } = later.write;
  const fromNs = earlier.hold.grantSentNs;
  const look = evidence.firstSample(node, byNs, ({ role, unseen }) => role === 'primary' && !unseen?.includes(key));
  const untilNs = Math.min(ranBy(later), look?.[1].atNs ?? Number.POSITIVE_INFINITY);
  const isTaken = (write: KeyWrite) =>
    (write.effect === 'remove' || (write.effect === 'take' && write.blind)) &&
    write.observation < observation &&
    write.atNs >= fromNs &&
    ranFrom(write) <= untilNs &&
    removes(write, earlier.write.value) !== 'no' &&
    !evidence.cameOverLink(write);
  const list = evidence.readingOf(node)?.changes(key).list ?? [];
  return (
    evidence.writes(node, key).some(isTaken) ||
    list.some(({ how, atNs }) => how === 'evicted' && atNs >= fromNs && atNs <= untilNs) ||
    mayHaveBeenOver(earlier.write, node, untilNs, evidence)
  );
}

/**
 * Why nothing that the earlier grant's node sent since can have come to the later one's, by whatever way, as long as that could load
 * it: that one was out of reach of all others all the time, or all others were of that one's. Undefined where neither is proven.
 *
 * A server that is promoted may break off with whom watches it just when the write is made elsewhere; so it need not be watched.
 */
export function whyApart(contest: Contest, evidence: Evidence, byNs: number): readonly EffectSpan[] | undefined {
  const { hold, write } = contest.earlier;
  const to = contest.later.write.node;
  const untilNs = Math.max(hold.grantSentNs, lastToLoad(contest, evidence, byNs));
  const why = (one: string, other: string) => evidence.effects.whyApart(one, other, hold.grantSentNs, untilNs);
  const isApart =
    evidence.nodes.every((node) => node === write.node || why(write.node, node)) ||
    evidence.nodes.every((node) => node === to || why(node, to));
  return isApart ? why(write.node, to) : undefined;
}

/** By when the later grant's node was primary for certain and until that grant: it loaded nothing after that. */
function lastToLoad({ later }: Contest, evidence: Evidence, byNs: number): number {
  const { node } = later.write;
  const ranNs = ranBy(later);
  const promoted = evidence.firstSample(node, byNs, ({ role }) => role === 'primary')?.[1].atNs ?? ranNs;
  if (promoted >= ranNs || !wasPrimaryThroughout(node, promoted, ranNs, evidence)) return ranNs;
  const readNs = readAsPrimary(node, byNs, promoted, evidence)?.fromNs ?? promoted;
  return promoted - readNs <= UNSEEN_NS ? readNs : promoted;
}

/** The fault by which a node was made primary between two instants, if one was: from then on it had said so itself. */
export function readAsPrimary(
  node: string,
  fromNs: number,
  untilNs: number,
  { effects }: Evidence,
): EffectSpan | undefined {
  return effects
    .spans('replaced')
    .find((span) => span.effect.by === node && span.fromNs > fromNs && span.fromNs < untilNs);
}

/** Whether the key may have gone from a node after the earlier grant: by a request, an eviction, its time, or what was not seen. */
function mayHaveLost(node: string, contest: Contest, evidence: Evidence, untilNs: number): boolean {
  const { earlier, key } = contest;
  const { grantSentNs } = earlier.hold;
  if (!isAllSeen(node, grantSentNs, untilNs, evidence)) return true;
  const writes = evidence.writes(node, key).filter(({ atNs }) => atNs >= grantSentNs && atNs <= untilNs);
  // A script that was seen to change nothing has no state before it.
  const isTaken = (write: KeyWrite) =>
    write.before !== undefined && removes(write, earlier.write.value) !== 'no' && !evidence.cameOverLink(write);
  const list = evidence.readingOf(node)?.changes(key).list ?? [];
  return (
    writes.some(isTaken) ||
    list.some(({ how, atNs }) => how === 'evicted' && atNs >= grantSentNs && atNs <= untilNs) ||
    wasOver(node, contest, evidence, untilNs)
  );
}

/**
 * Whether the key may have gone from the node that granted it first, by then, in a way that its record tells, or while nobody watched a
 * node that answered again after that: what was not there any more did not stand in anybody's way, whoever took that node's place.
 */
export function mayHaveGoneThere(contest: Contest, evidence: Evidence, untilNs: number): boolean {
  const { node, value, observation, atNs } = contest.earlier.write;
  // What was granted after that had not gone before it.
  if (untilNs <= ranFrom(contest.earlier.write)) return false;
  const byNs = Math.max(untilNs, atNs);
  const changes = evidence.readingOf(node)!.changes(contest.key);
  const loss = changes.lossOf(value!, observation);
  if (loss && evidence.seenStored(node, contest.key, value, byNs, loss.atNs)) return false;
  const { how, atNs: lostNs = byNs } = loss ?? {};
  const isMissed = how === 'gap' && evidence.answeredBetween(node, lostNs, byNs);
  if (isMissed && !evidence.seenStored(node, contest.key, value, lostNs, byNs)) return true;
  // A look tells of nothing but that it is gone; and of a server that died nothing more is seen.
  const isSaid = loss && loss.how !== 'gap' && loss.how !== 'sample';
  // Its own client had not begun to release it before.
  const { client, untilNs: heldUntilNs } = contest.earlier.hold;
  const isLater = loss?.by?.client === client && loss.atNs > byNs && heldUntilNs > byNs;
  if (isSaid && !isLater && Math.min(loss.ranFromNs, stampedNs(node, loss, evidence)) <= byNs) return true;
  return changes.storedAt(value!, byNs).truth === 'no' || wasOver(node, contest, evidence, byNs);
}

/** When a command ran by its server's stamp, as far off as in the last look, be it read seconds late; Infinity: not told. */
function stampedNs(node: string, { by, atNs }: Change, evidence: Evidence): number {
  const skewMs = evidence.lastSample(node, atNs)?.[1].skewMs ?? 0;
  return (by && evidence.ranByStamp(by, skewMs)) ?? Number.POSITIVE_INFINITY;
}

/** Whether the earlier holder may have stored itself on the later one's node too, by a request of its own: then it was lost there. */
export function mayHaveStoredThere({ earlier, later, key }: Contest, evidence: Evidence): boolean {
  const { hold, write } = earlier;
  return evidence
    .writes(later.write.node, key)
    .some(
      (one) =>
        one !== write &&
        one.effect === 'take' &&
        one.took !== false &&
        (one.client === hold.client || one.value === write.value) &&
        one.atNs >= hold.grantSentNs &&
        one.observation < later.write.observation,
    );
}

/** Whether a node was watched all the time, or until it was gone: it answered nobody any more after that. */
function isAllSeen(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const lostNs = evidence.watchLost(node, fromNs, untilNs)?.[1].atNs ?? untilNs + 1;
  return evidence.watchedThroughout(node, fromNs, lostNs - 1) && !evidence.answeredBetween(node, lostNs, untilNs);
}

/** Whether the time that the earlier grant or its client's last renewal had asked for, be it by storing it anew, may have been over on a node. */
function wasOver(node: string, { earlier, key }: Contest, evidence: Evidence, untilNs: number): boolean {
  const { write, hold } = earlier;
  const renewal = evidence
    .writes(write.node, key)
    .findLast(
      ({ observation, client, effect, took, value, atNs }) =>
        observation > write.observation &&
        client === hold.client &&
        (effect === 'prolong' || (effect === 'take' && took === true && value === write.value)) &&
        atNs <= untilNs,
    );
  const last = renewal ?? write;
  const wallMs = last.serverWallMs + (untilNs - last.atNs) / 1e6;
  return wallMs >= last.expiresWallMs - BLUR_MS || mayHaveBeenOver(last, node, untilNs, evidence);
}
