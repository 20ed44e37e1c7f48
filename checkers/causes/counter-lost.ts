/**
 * A fencing token did not rise because the node that gave it out had lost the count of an earlier one, or never had it.
 *
 * What one script writes reaches a replica, a log and a snapshot together or not at all. So where both grants were made by
 * scripts that counted the same key up, and the later one's node was without what the earlier one stored, it was without
 * that count as well.
 *
 * Excludes tokens that are counted anywhere else (by the client, or by a command of its own, which may have been replicated
 * without the lock; or which are known not to be what the script counted), what only the lock's key can have come to (an eviction,
 * its expiry, somebody's DEL), what only the count can have come to before the lock was lost (a count that expires may have gone
 * while the lock was renewed) or since (others count on, and somebody removes what they have counted), and independent nodes, of
 * which it is not known which gave the token.
 */

import type { Change } from '../../harness/record/facts/commands/changes.js';
import { NEVER } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, CauseName } from '../../harness/vocabulary/verdict.js';
import { type Contest, contestsOf } from './contest.js';
import { type Party, wasEmptied } from './meanwhile.js';
import { mayBeToken, onlyCounts } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** Each shows a node that was without everything that another, or its own earlier process, had written last. */
const lost: ReadonlySet<CauseName> = new Set(['failover-lost-write', 'split-brain', 'node-forgot']);

/** `cause` is that of the overlap of the two grants' holds. */
export function counterLost(overlap: Overlap, cause: Cause, evidence: Evidence, input: CheckInput): Cause | undefined {
  if (!lost.has(cause.name) || evidence.majority !== undefined) return undefined;
  const [contest] = contestsOf(overlap, evidence);
  const counter = contest?.earlier.write.counter?.key;
  if (!contest || counter === undefined || contest.later.write.counter?.key !== counter) return undefined;
  if (mayHaveGoneBefore(contest, counter, evidence) || mayHaveGoneAfter(contest, counter, evidence, input))
    return undefined;
  const whole = wholeEvidenceOf(input) ?? evidence;
  if (![contest.earlier, contest.later].every((party) => mayHaveTold(party, whole))) return undefined;
  return {
    name: cause.name,
    sentence: `${cause.sentence} Tokens are counted in ${counter} by the same script, so that count was missing with it.`,
    chain: [...cause.chain, countLink(contest.earlier), countLink(contest.later)].sort((a, b) => a.atNs - b.atNs),
  };
}

/** Whether the count may have been gone when the lock was lost, from a node that had had both. */
function mayHaveGoneBefore({ earlier, reached, tenure }: Contest, counter: string, evidence: Evidence): boolean {
  if (!reached) return false;
  const list = evidence.readingOf(reached.node)?.changes(counter).list ?? [];
  const { observation } = earlier.write.counter!;
  const at = list.findLastIndex(({ line }) => line <= observation);
  // What becomes of a key that does not have the lock's name in its own is not recorded.
  if (at < 0) return true;
  const [loss] = tenure.losses;
  return list
    .slice(at)
    .some(({ line, after }) => line < loss!.line && (after.exists !== 'yes' || after.expires.fromMs !== NEVER.fromMs));
}

/** Whether the node that gave the later token may have lost what it had counted itself since: others count there as well. */
function mayHaveGoneAfter(
  { earlier, later }: Contest,
  counter: string,
  evidence: Evidence,
  { observations }: CheckInput,
): boolean {
  const { node } = later.write;
  const [from, to] = [earlier, later].map(({ write }) => write.counter!.observation) as [number, number];
  const list = evidence.readingOf(node)?.changes(counter).list ?? [];
  const meddled = (change: Change) => change.line > from && change.line < to && !onlyCounts(change, observations);
  return list.some(meddled) || wasEmptied(node, later.hold.key, evidence, from, to);
}

/** Whether the token may be what the script counted up to: some count for statistics only, and take their tokens from a clock. */
function mayHaveTold({ hold, write: { node, counter } }: Party, evidence: Evidence): boolean {
  const count = evidence.readingOf(node)?.changes(counter!.key).ofLine(counter!.observation);
  return !count || mayBeToken(count, hold);
}

function countLink({ hold, write: { node, atNs, counter } }: Party): CauseLink {
  return {
    atNs,
    text: `${node} counted ${counter?.key} up in the script that granted it to ${hold.client}`,
    observation: counter?.observation,
  };
}
