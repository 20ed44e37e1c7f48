/**
 * A fencing token did not rise because what counts the tokens was lost between the two counts: it expired (`counter-expired`),
 * a client of the lock removed it (`counter-removed`), or its server evicted it (`evicted`).
 *
 * Example: c1 counts `{lock:0}:fence` up to 7 in a script that gives it the lease for an expiry. Nobody asks for a while; c2
 * counts it up to 1.
 *
 * Named where the one server was seen to count both up (`INCR`, `INCRBY`), each for its own client and within the acquire that
 * was granted, the higher one first. Between the two the counter was only counted up, looked at, prolonged, and lost, every time
 * in the same way.
 *
 * Excludes tokens that are counted anywhere else, a counter that may have changed unseen (the server restarted, say), one that a
 * stranger removed, or set the time of, one that was over only by a clock that had moved, and independent nodes.
 */
import { type Change, lastTimed } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseName, Hold } from '../../harness/vocabulary/verdict.js';
import { isByRightClocks, READING_MS, wasMovedBetween } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { countIn, countsUp, type Draw, drawLink, drawsOf, onlyCounts, tokenLink } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** How a counter was lost, and by whom. */
interface Loss {
  readonly name: CauseName;
  readonly text: string;
  readonly change: Change;
}

/** `first` was granted before `second`, with a token that is as high or higher. */
export function counterWentBack(first: Hold, second: Hold, input: CheckInput): Cause | undefined {
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const [before, after] = [first, second].map((hold) => drawOf(hold, evidence, related, input));
  if (!before || !after || before.node !== after.node || before.key !== after.key) return undefined;
  const { list } = evidence.readingOf(before.node)!.changes(before.key);
  const { observations } = input;
  if (![before, after].every(({ change }) => onlyCounts(change, observations))) return undefined;
  const [from, to] = [list.indexOf(before.change) + 1, list.indexOf(after.change)];
  const losses = lossesIn(list.slice(from, to), before, observations);
  const [loss] = losses ?? [];
  if (!loss || !losses!.every(({ name }) => name === loss.name)) return undefined;
  const mayNotBe = ({ name, change }: Loss) =>
    name === 'counter-expired' && !endedByOwnTime(list, list.indexOf(change), before.node, evidence);
  if (losses!.some(mayNotBe)) return undefined;
  return {
    name: loss.name,
    sentence: `${before.node} had counted ${before.key} up to ${first.token} for ${first.client}; then ${loss.text}, and it was counted up to ${second.token} for ${second.client}.`,
    chain: [
      drawLink(before, first),
      tokenLink(first),
      { atNs: loss.change.atNs, text: loss.text, observation: loss.change.line },
      drawLink(after, second),
      tokenLink(second),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** The only count that came to its token within the acquire that was granted. */
function drawOf(hold: Hold, evidence: Evidence, related: RelatedKeys, { history }: CheckInput): Draw | undefined {
  const askedNs = history.event(hold.evidence[0]!)!.atNs;
  const draws = drawsOf(hold, evidence, related)?.filter(
    ({ change: { atNs, ranFromNs } }) => ranFromNs >= askedNs - 2 * RECKONING_NS && atNs <= hold.fromNs + RECKONING_NS,
  );
  return draws?.length === 1 ? draws[0] : undefined;
}

/** Every loss among these changes of a counter; undefined where anything else may have happened to it. */
function lossesIn(
  changes: readonly Change[],
  { node, key }: Draw,
  observations: CheckInput['observations'],
): Loss[] | undefined {
  const losses: Loss[] = [];
  for (const change of changes) {
    if ((countsUp(change) && onlyCounts(change, observations)) || isKept(change)) continue;
    const { how, after, by } = change;
    if (after.exists !== 'no') return undefined;
    if (how === 'expired') losses.push({ name: 'counter-expired', text: `${key} expired on ${node}`, change });
    else if (how === 'evicted') losses.push({ name: 'evicted', text: `${node} evicted ${key}`, change });
    else if (by?.client !== undefined)
      losses.push({ name: 'counter-removed', text: `${by.client} removed ${key} (${by.name})`, change });
    else return undefined;
  }
  return losses;
}

/**
 * Whether the counter ended by a time that a client of the lock had set for it, and not by a clock that was moved: none was, or it was
 * over by right ones as well when it was asked for next.
 */
function endedByOwnTime(list: readonly Change[], at: number, node: string, evidence: Evidence): boolean {
  const timed = lastTimed(list, at);
  const { by, after } = timed ?? {};
  if (!timed || by?.client === undefined || !isByRightClocks(by, timed.ranFromNs, evidence)) return false;
  const next = list[at + 1]!;
  const lastsMs = after!.expires.untilMs - by.serverWallMs;
  if ((next.ranFromNs - timed.atNs) / 1e6 > lastsMs) return true;
  // Of a step of the machine's clock no look at a server tells: both go with it.
  if (evidence.machineMovedMs(timed.ranFromNs, next.atNs) > READING_MS) return false;
  return !wasMovedBetween(node, timed.ranFromNs, next.atNs, evidence);
}

/** Whether the count is what it was: it was looked at, or given another expiry. */
function isKept({ before, after }: Change): boolean {
  return before.exists === after.exists && countIn(before) === countIn(after);
}
