/**
 * Those who share a lock are kept in one number, and the number was wrong: it expired while one of them held (`count-expired`), or
 * somebody gave back more than it had taken (`returned-too-often`).
 *
 * Example: readers are counted in `lock:0:readers`, which the first of them gives 1 s to live. c2 comes in after that for 5 s. The
 * number is gone before c2 is, and a writer finds nobody reading.
 *
 * Example: c1 gives its permit back, and a timer of c1 does so again. Two permits are free, and c2 and c3 take them beside c4.
 *
 * Named where a server was seen to count the holders, each for its own client and within the attempt that was granted, which
 * stored nothing else; everything is known that became of the number; and the grant that should not have been made found it free.
 * `count-expired`: it expired between the count of a holder and that grant, when nobody had given back more than it had taken since
 * the number was made, and the server's clock was not moved since that time was set. `returned-too-often`: of what a client had
 * taken it had given back more than it could have by then, with what it held, and time had taken no number of before.
 *
 * Excludes numbers that were lost in any other way, or that strangers and replication links had a hand in; independent nodes; and
 * locks that keep holders by name, or in more than one number.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import { stateBy } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { leaseLink } from './contest.js';
import { READING_MS, wasMovedBetween } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { type Account, accountsOf, type Count, type Direction, numberIn } from './shared-accounts.js';
import { countsUp } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** Where a holder was counted. */
interface Counted {
  readonly hold: Hold;
  readonly node: string;
  readonly key: string;
  /** All that became of the number. */
  readonly list: readonly Change[];
  readonly at: number;
}

export function sharedCount(overlap: Overlap, input: CheckInput): Cause | undefined {
  const { model } = input;
  if (model.kind !== 'semaphore' && model.kind !== 'read-write') return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const counted = [overlap.first, ...overlap.others].map((hold) => countOf(hold, evidence, related));
  const [one] = counted;
  if (!one || !counted.every((other) => other?.node === one.node && other.key === one.key)) return undefined;
  const holders = (counted as Counted[]).sort((a, b) => a.at - b.at);
  const direction = directionOf(holders);
  if (direction === undefined) return undefined;
  const count: Count = { direction, absent: model.kind === 'semaphore' && direction < 0 ? model.permits : 0 };
  const wrong = wrongGrant(overlap.second, one, count, model, evidence, related);
  if (!wrong || holders.some(({ at }) => at >= wrong.until)) return undefined;
  return expiredCount(holders, wrong, overlap, count, evidence, input) ?? excessReturn(holders, wrong, overlap, count);
}

/** The only change of a number by one that the client made in the attempt that was granted, in which it stored nothing else. */
function countOf(hold: Hold, evidence: Evidence, related: RelatedKeys): Counted | undefined {
  const found: Counted[] = [];
  for (const node of evidence.nodes) {
    const reading = evidence.readingOf(node);
    const keys = reading && related.of(hold.key, reading);
    if (!keys) return undefined;
    for (const key of keys) {
      const { list } = reading.changes(key);
      // What was read before the attempt left ran before it.
      for (let at = firstIndex(list.length, (n) => list[n]!.atNs >= hold.grantSentNs); at < list.length; at++) {
        const { by, applied, ranFromNs } = list[at]!;
        if (ranFromNs > hold.fromNs) break;
        if (applied !== 'no' && by?.client === hold.client) found.push({ hold, node, key, list, at });
      }
    }
  }
  const [count, ...others] = found.filter(({ list, at }) => isCount(list[at]!));
  if (!count || others.length > 0) return undefined;
  // What it stored beside may be what the lock goes by.
  return found.every(({ node, key }) => node === count.node && key === count.key) ? count : undefined;
}

/** Whether it certainly made the number one more or one less, or made it. */
function isCount({ before, after }: Change): boolean {
  if (after.exists !== 'yes') return false;
  return before.exists === 'no' ? !Number.isNaN(numberIn(after)) : Math.abs(numberIn(after) - numberIn(before)) === 1;
}

/** Undefined: the grants do not agree. A number that a grant makes says nothing, unless it counts up. */
function directionOf(holders: readonly Counted[]): Direction | undefined {
  const directions = new Set<Direction>();
  for (const { list, at } of holders) {
    const change = list[at]!;
    if (change.before.exists === 'yes') directions.add(numberIn(change.after) > numberIn(change.before) ? 1 : -1);
    else if (countsUp(change)) directions.add(1);
  }
  const [direction, ...others] = directions;
  return others.length === 0 ? direction : undefined;
}

/** The grant that should not have been made, beside what became of the number. */
interface Wrong {
  /** Of the changes, the first that did not come before it. */
  readonly until: number;
  /** What it found of the number. */
  readonly left: Change['before'];
  readonly line: number;
  readonly atNs: number;
}

/** Undefined as well where the number was against it: a grant that did not go by the number is wrong for another reason. */
function wrongGrant(
  second: Hold,
  { node, key, list }: Counted,
  { direction }: Count,
  model: LockModel,
  evidence: Evidence,
  related: RelatedKeys,
): Wrong | undefined {
  if (model.kind === 'semaphore') {
    const own = countOf(second, evidence, related);
    if (own?.node !== node || own.key !== key) return undefined;
    const { line, atNs, before: left, after } = list[own.at]!;
    const isFull = direction < 0 ? numberIn(after) < 0 : numberIn(after) > model.permits;
    return isFull ? undefined : { until: own.at, left, line, atNs };
  }
  const grant = evidence.grantsOf(second).at(-1);
  if (grant?.took !== true || grant.node !== node) return undefined;
  const { observation: line, atNs, serverWallMs } = grant.write;
  const until = firstIndex(list.length, (n) => list[n]!.line > line);
  const last = list[until - 1];
  // That it expires changes nothing until somebody stores there again.
  const left = last && stateBy(last.after, { fromMs: serverWallMs, untilMs: serverWallMs });
  return left && numberIn(left) === 0 ? { until, left, line, atNs } : undefined;
}

function expiredCount(
  holders: readonly Counted[],
  wrong: Wrong,
  overlap: Overlap,
  count: Count,
  evidence: Evidence,
  { observations }: CheckInput,
): Cause | undefined {
  // Whoever was counted in a number that is there no more was counted before the others.
  const [loss, ...others] = holders.map((one) => fateOf(one, holders, wrong, count));
  if (typeof loss !== 'object' || others.includes(undefined)) return undefined;
  const one = holders[0]!;
  const { hold, node, key, list } = one;
  const set = lastTimed(list, loss.before);
  if (set?.by?.client === undefined) return undefined;
  if (wasMovedBetween(node, set.ranFromNs, loss.atNs, evidence)) return undefined;
  const { by } = set;
  // Nor by a jump that nobody told of, and that no look has shown yet.
  const shows = observations.line(loss.line) as CommandObservation;
  const passedMs = (loss.atNs - set.atNs) / 1e6;
  if (shows.serverWallMs - by.serverWallMs > passedMs + READING_MS) return undefined;
  const time = `by the time that ${by.client} had set for it (${by.name})`;
  return {
    name: 'count-expired',
    sentence: `${node} had counted ${hold.client} in ${key}, which expired while ${hold.client} held ${hold.key}, ${time}; ${overlap.second.client} was granted it after that.`,
    chain: [
      countedLink(one),
      { atNs: loss.atNs, text: `${key} had expired on ${node}, ${time}`, observation: loss.line },
      grantedLink(overlap),
      leaseLink({ hold }),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** The last of the changes before a place that changed the time of what is there. */
function lastTimed(list: readonly Change[], end: number): Change | undefined {
  for (let n = end - 1; n >= 0; n--) if (list[n]!.before.expires !== list[n]!.after.expires) return list[n];
  return undefined;
}

/** That the number had expired, which the line of a command shows; `before`: the first change that came after it. */
interface Loss {
  readonly before: number;
  readonly line: number;
  readonly atNs: number;
}

/**
 * Whether the number that a holder was counted in was there still at that grant, or was lost by its time; undefined: neither, or
 * somebody took out what was not its own, so that the number would have been wrong without that it expired.
 */
function fateOf(
  { list, at }: Counted,
  holders: readonly Counted[],
  { until, left, line, atNs }: Wrong,
  count: Count,
): Loss | 'counted' | undefined {
  const accounts = accountsOf(list, count);
  const from = accounts.madeAt(at);
  const gone = accounts.goneAfter(at);
  const isGone = gone < until;
  const end = isGone ? gone : until;
  const balance = accounts.between(Math.max(from, 0), end);
  const inIt = holders.filter((holder) => holder.at >= from && holder.at < end);
  if (!balance || excessIn(balance, inIt)) return undefined;
  if (!isGone) return left.exists === 'no' ? { before: until, line, atNs } : 'counted';
  const change = list[gone]!;
  return change.how === 'expired' ? { before: gone, line: change.line, atNs: change.atNs } : undefined;
}

function excessReturn(
  holders: readonly Counted[],
  { until, left }: Wrong,
  overlap: Overlap,
  count: Count,
): Cause | undefined {
  // Where time had taken the number nobody had made it wrong.
  const { list, node, key } = holders[0]!;
  const before = list[until - 1]?.after;
  if (left.exists !== 'yes' && before?.exists === 'yes' && numberIn(before) !== count.absent) return undefined;
  // Nor is it told whose all was where time took an earlier one: who had taken of that may have given back to the next.
  const balance = accountsOf(list, count).between(0, until);
  const excess = balance && excessIn(balance, holders);
  if (!excess) return undefined;
  const [client, { taken, returned, last }] = excess;
  const held = heldBy(client, holders);
  const holding = held > 0 ? `, of which it held ${held}` : '';
  const text = `by then ${client} had given back ${returned} of ${overlap.second.key}, and had taken ${taken}${holding}`;
  return {
    name: 'returned-too-often',
    sentence: `${node} counts who holds in ${key}: ${text}; so ${overlap.second.client} was granted it beside ${holders.map(({ hold }) => hold.client).join(' and ')}.`,
    chain: [
      ...holders.map(countedLink),
      { atNs: last!.atNs, text, observation: last!.line },
      grantedLink(overlap),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** The first that gave back more than it had taken and did not hold. */
function excessIn(balance: ReadonlyMap<string, Account>, holders: readonly Counted[]): [string, Account] | undefined {
  return [...balance].find(([client, { taken, returned }]) => returned > taken - heldBy(client, holders));
}

function heldBy(client: string, holders: readonly Counted[]): number {
  return holders.filter(({ hold }) => hold.client === client).length;
}

function countedLink({ hold: { client }, node, key, list, at }: Counted): CauseLink {
  return { atNs: list[at]!.atNs, text: `${node} counted ${client} in ${key}`, observation: list[at]!.line };
}

function grantedLink({ second }: Overlap): CauseLink {
  return { atNs: second.fromNs, text: `${second.client} was granted ${second.key}`, history: second.evidence[1]! };
}
