/**
 * A fencing token did not rise because the server that counts the tokens was killed between the two counts, and came back
 * without what it had counted (`node-forgot`).
 *
 * Example: c1 counts `{lock:0}:fence` up to 7; the server is killed and its data removed; c2 is given token 1.
 *
 * Named where the only server was seen to count both up (`INCR`, `INCRBY`), each for its own client and within the acquire that
 * was granted, the second one for an attempt that left when it was known to be dead; a fault's record says that it forgot; and
 * everything else that is known of the counter, before and after, counted it up. What ran just before the kill, and before the
 * server was watched again, was not seen: so in the whole run nobody may have done anything else with it.
 *
 * Excludes tokens that are counted anywhere else, a counter that expires, one that anybody sets or removes, deployments of more
 * than one server, and a restart of which no fault tells.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { forgettingKills } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { countFor, countIn, drawLink, mayBeToken, onlyCounts, tokenLink } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `first` was granted before `second`, with a token that is as high or higher. */
export function counterForgotten(first: Hold, second: Hold, input: CheckInput): Cause | undefined {
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined || evidence.nodes.length !== 1) return undefined;
  const [node] = evidence.nodes as [string];
  const related = new RelatedKeys(input.history.operations.keys);
  const [before, again] = [first, second].map((hold) => countFor(hold, evidence, related));
  if (!before || !again || again.key !== before.key) return undefined;
  const { key, change } = before;
  const { list } = evidence.readingOf(node)!.changes(key);
  if (countIn(change.after) !== String(first.token) || !mayBeToken(again.change, second)) return undefined;
  const killed = forgotBetween(node, change, second.grantSentNs, evidence);
  if (!killed || !list.every((one) => onlyCounts(one, input.observations))) return undefined;
  const after = again.change;
  const { did } = killed.record;
  return {
    name: 'node-forgot',
    sentence: `${node} had counted ${key} up to ${first.token} for ${first.client}; then it was killed and forgot what it had (${did}), and when it counted up for ${second.client} it came to ${second.token}.`,
    chain: [
      drawLink(before, first),
      tokenLink(first),
      { atNs: killed.record.atNs, text: did, history: killed.record.i },
      { atNs: after.atNs, text: `${node} counted ${key} up for ${second.client}`, observation: after.line },
      tokenLink(second),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** A kill after which the node had forgotten something, after the first count had run and known before the second attempt left. */
function forgotBetween(
  node: string,
  count: Pick<Change, 'atNs' | 'line'>,
  untilNs: number,
  evidence: Evidence,
): EffectSpan | undefined {
  return forgettingKills(node, evidence).find(
    ({ record, earliestNs }) =>
      // What it printed may have been read only after its death.
      (earliestNs > count.atNs || evidence.printedInWatch(node, earliestNs - 1, count.line)) &&
      record.atNs < untilNs &&
      ranOn(node, count.atNs, earliestNs, evidence),
  );
}

/**
 * Whether it was one process from the one instant to the other: another one may have begun anew before, unsaid. It was looked at as the
 * same process, and watched since.
 */
function ranOn(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const [before, last] = [fromNs, untilNs].map((atNs) => evidence.lastSample(node, atNs)?.[1]);
  const sinceNs = last && last.runId === before?.runId ? Math.max(fromNs, last.atNs) : fromNs;
  return evidence.watchLost(node, sinceNs, untilNs) === undefined;
}
