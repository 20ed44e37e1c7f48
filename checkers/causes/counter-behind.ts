/**
 * A fencing token did not rise because the server that counted up for it had replaced another as primary, without what that one
 * had counted (`failover-lost-write`).
 *
 * Example: r1 counts `{lock:0}:fence` up to 17 for c5, and nobody hears of it: r3 has replaced it, at 8. Three seconds later
 * r3 counts up to 9 for c2.
 *
 * It follows from numbers: a counter that nobody does anything with but to count it up, on any server, came to the first token on
 * one, and later to no more than that on another. So what the other had then was without the first count. Named where both were
 * seen to count it up, each once for its own client and within the acquire that was granted; where the second one was seen as a
 * replica before, and from when it was seen as primary until its count was primary and the same process all the time; and
 * where what it lacks can have gone by the failover only: it was primary before the first count, or no server was killed or emptied
 * between that count and its being primary.
 *
 * Excludes tokens that are counted anywhere else, a counter that expires, one that anybody sets or removes, a server that was
 * replaced and is primary again, independent nodes, and clusters in which slots are moved.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { ANSWERED_WITHIN_NS, ranAnew, wasEmptied, wasPrimaryThroughout } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { countFor, countIn, type Draw, drawLink, mayBeToken, onlyCounts, tokenLink } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `first` was granted before `second`, with a token that is as high or higher. */
export function counterBehind(first: Hold, second: Hold, input: CheckInput): Cause | undefined {
  if (!(first.token! >= second.token!)) return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence?.isReplicated) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const [before, after] = [first, second].map((hold) => countFor(hold, evidence, related));
  if (!before || !after || before.key !== after.key || before.node === after.node) return undefined;
  if (countIn(before.change.after) !== String(first.token) || !mayBeToken(after.change, second)) return undefined;
  if (before.change.atNs > after.change.ranFromNs || !isOnlyCounted(before.key, first.key, evidence, input))
    return undefined;
  const roles = replacedBy(before, after, evidence);
  if (!roles || mayHaveLostIt(after, first.token!, before.change.ranFromNs, evidence)) return undefined;
  const { asReplica, asPrimary } = roles;
  return {
    name: 'failover-lost-write',
    sentence: `${after.node} replaced ${before.node} as primary without its count: ${before.node} had counted ${before.key} up to ${first.token} for ${first.client}, and when ${after.node} counted it up for ${second.client} it came to ${second.token}.`,
    chain: [
      drawLink(before, first),
      tokenLink(first),
      { atNs: asReplica[1].atNs, text: `${after.node} was a replica`, observation: asReplica[0] },
      { atNs: asPrimary[1].atNs, text: `${after.node} was primary`, observation: asPrimary[0] },
      {
        atNs: after.change.atNs,
        text: `${after.node} counted ${after.key} up for ${second.client}`,
        observation: after.change.line,
      },
      tokenLink(second),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

function isOnlyCounted(key: string, resource: string, evidence: Evidence, { observations }: CheckInput): boolean {
  return evidence.nodes.every((node) => {
    const list = evidence.readingOf(node)?.changes(key).list ?? [];
    return list.every((change) => onlyCounts(change, observations)) && !wasEmptied(node, resource, evidence);
  });
}

/** Whether the second count's server was seen to have come as far before, or was short of memory when not all was seen of it. */
function mayHaveLostIt({ node, key, change }: Draw, token: number, sinceNs: number, evidence: Evidence): boolean {
  const { line, atNs } = change;
  const { list } = evidence.readingOf(node)!.changes(key);
  if (list.some(({ after, ...one }) => one.line < line && Number(countIn(after) ?? Number.NaN) >= token)) return true;
  const isMeanwhile = ({ earliestNs, latestNs }: EffectSpan) => earliestNs <= atNs && latestNs >= sinceNs;
  const isShort = evidence.effects.on('short-of-memory', node).some(isMeanwhile);
  return isShort && !evidence.watchedThroughout(node, sinceNs, atNs);
}

/** The looks that show how the second count's server took the place of the first one's, and kept what it had then. */
function replacedBy(before: Draw, after: Draw, evidence: Evidence) {
  const { node: from, change: first } = before;
  const { node: to, change: second } = after;
  const asReplica = evidence.lastAsReplica(to, second.ranFromNs);
  const asPrimary = asReplica && evidence.firstSample(to, asReplica[1].atNs, ({ role }) => role === 'primary');
  if (!asPrimary || asPrimary[1].atNs > second.ranFromNs || evidence.effects.spans('slot-moves').length > 0)
    return undefined;
  const [lookedNs, byNs] = [asReplica[1].atNs, asPrimary[1].atNs];
  if (!wasPrimaryThroughout(to, byNs, second.ranFromNs, evidence)) return undefined;
  if (ranAnew(to, lookedNs, second.atNs, evidence) || !ranOnUntil(second, to, evidence)) return undefined;
  // It was the later one to be made primary: the other one's count was before it was a replica, or that was primary since.
  const isNewer =
    first.atNs < lookedNs - ANSWERED_WITHIN_NS ||
    wasPrimaryThroughout(from, lookedNs - ANSWERED_WITHIN_NS, first.atNs, evidence);
  // Nothing that is counted after it was primary comes here, whatever befalls others.
  const isLost =
    first.ranFromNs > byNs || evidence.nodes.every((node) => keptRunning(node, first.ranFromNs, byNs, evidence));
  return isNewer && isLost ? { asReplica, asPrimary } : undefined;
}

/** Whether the process that counted is the one that was looked at last: its watching would have broken off, or the next look is at it, too. */
function ranOnUntil({ ranFromNs, atNs }: Change, node: string, evidence: Evidence): boolean {
  const before = evidence.lastSample(node, ranFromNs)?.[1];
  const after = evidence.firstSample(node, atNs, () => true)?.[1];
  if (before === undefined) return false;
  return evidence.watchedThroughout(node, before.atNs, atNs) || after?.runId === before.runId;
}

/** Whether a node was not killed or emptied meanwhile: others may have loaded what it had then. */
function keptRunning(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const struck = (['killed', 'forgot'] as const).flatMap((kind) => evidence.effects.on(kind, node));
  const meanwhile = struck.some(({ earliestNs, latestNs }) => earliestNs <= untilNs && latestNs >= fromNs);
  return !meanwhile && !ranAnew(node, fromNs, untilNs, evidence);
}
