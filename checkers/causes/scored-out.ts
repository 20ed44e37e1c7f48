/**
 * Permits stand in a sorted set, with until when each is taken as its score, by the server's clock; a script took out who held one
 * whose time was over by that clock. It had jumped ahead, and by the machine's own some of that time was left (`clock-jumped`).
 *
 * Example: c1 takes a permit until 12:00:05. At 12:00:01 the server's clock jumps ahead by 10 s. c2's script asks for the time, takes
 * out all whose score is less, c1 among them, and finds a permit free.
 *
 * Named where one server's whole record is known. The holder's client stored one member of one sorted set in the attempt that was
 * granted, and had last given it its score when it was certainly there; another client's script certainly took it out by its score, up
 * to what the server's clock showed then; the grant that should not have been made asked for the set and put a member of its own in it
 * after that, in which one permit was left and nothing stood for the holder, so that none would have been with the holder's in it. Of
 * the time that the score had given some was left by the machine's clock, no more than recorded jumps had put the server's ahead
 * since, and nothing else moved that. Nor did anything that ran between the two take that member out by another way, or would have.
 *
 * Excludes times of day that clients gave their scripts (`taken-over-by-clock` tells of those), and clocks that drift.
 */
import {
  type Change,
  ownersBy,
  ownersOf,
  partsOf,
  storedBy,
  stores,
} from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { durationOfMs } from '../../harness/record/facts/words.js';
import type { Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { leaseLink } from './contest.js';
import { changedBy, type OwnChange } from './counted-holds.js';
import { hasLooked } from './lost-with-server.js';
import { keptItsData, moveLink, onlyJumpsBetween, READING_MS } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { isTimeOfDay } from './told-time.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** A member that a client put in a sorted set, and by what. */
interface Member extends OwnChange {
  readonly name: string;
}

export function scoredOut({ first, others, second }: Overlap, input: CheckInput): Cause | undefined {
  const { model, history, observations } = input;
  if (model.kind !== 'semaphore') return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(history.operations.keys);
  const taken = memberOf(second, evidence, related);
  const found = taken?.list[taken.at];
  if (!taken || !found || membersIn(found.before) !== model.permits - 1) return undefined;
  // Who never asks how many are taken, since that was so, is granted a permit whoever was put out.
  const isSince = (line: number) => line > (taken.list[taken.at - 1]?.line ?? -1);
  if (!hasLooked(second, [taken], { node: taken.node, next: found }, observations, isSince)) return undefined;
  for (const hold of [first, ...others]) {
    const member = memberOf(hold, evidence, related);
    if (member?.node !== taken.node || member.key !== taken.key || member.at >= taken.at) continue;
    // By another name it is counted still, or again.
    if (ownersOf(found.before).some((name) => storedBy(found.before, name)?.client === hold.client)) continue;
    const [fromNs, untilNs] = [member.list[member.at]!.atNs, found.ranFromNs];
    if (evidence.isReplicated && !keptItsData(taken.node, fromNs, untilNs, evidence)) continue;
    const cause = causeOf(member, taken, evidence, observations);
    if (cause) return cause;
  }
  return undefined;
}

/**
 * The only member that the client certainly put in a sorted set in the attempt that was granted, in which it stored nothing else;
 * undefined: none, or several.
 */
function memberOf(hold: Hold, evidence: Evidence, related: RelatedKeys): Member | undefined {
  const all = changedBy(hold, evidence, related) ?? [];
  const found = all.flatMap((change): Member[] => {
    const { by, applied, after, line } = change.list[change.at]!;
    if (by?.name !== 'ZADD' || applied !== 'yes') return [];
    return ownersBy(after, line).map((name) => ({ ...change, name }));
  });
  const [one] = found;
  // What it stored beside may be what the lock goes by.
  const isAll = all.every(({ node, key }) => node === one?.node && key === one.key);
  return isAll && found.length === 1 ? one : undefined;
}

/** NaN: it is not known. */
function membersIn(state: Change['before']): number {
  if (state.exists === 'no') return 0;
  const held = partsOf(state);
  if (state.exists !== 'yes' || held?.type !== 'zset' || !held.complete) return Number.NaN;
  return [...held.parts.values()].every(({ there }) => there === 'yes') ? held.parts.size : Number.NaN;
}

function causeOf(member: Member, taken: Member, evidence: Evidence, observations: Observations): Cause | undefined {
  const { hold, node, key, name, list, at } = member;
  // A renewal may have put it there again after it had been taken out before.
  let gone = taken.at;
  while (gone > at + 1 && stores(list[gone - 1]!.after, name) !== 'yes') gone--;
  const removal = list[gone];
  if (!removal || gone === taken.at || stores(removal.after, name) !== 'no') return undefined;
  const { by } = removal;
  if (by?.name !== 'ZREMRANGEBYSCORE' || !by.script || by.client === undefined || by.client === hold.client)
    return undefined;
  const set = list.slice(at, gone).findLast(({ after, line }) => ownersBy(after, line).includes(name))!;
  const score = Number(partsOf(set.after)?.parts.get(name)?.value ?? Number.NaN);
  const reaches = boundOf(observations, removal.line);
  if (set.by?.client !== hold.client || !set.by.script || !(score <= reaches)) return undefined;
  // By what its own server's clock showed, and not by what a client said that its clock did.
  if (Math.abs(reaches - by.serverWallMs) > READING_MS) return undefined;
  if ([set.by.script.line, by.script.line].some((line) => tellsTime(observations, line))) return undefined;
  const leftMs = score - set.by.serverWallMs - (removal.atNs - set.ranFromNs) / 1e6;
  if (!(leftMs > READING_MS)) return undefined;
  // And when the next one was granted the permit, or that was over by then, or gone with all others, whatever the clock had done.
  const found = taken.list[taken.at]!;
  if (!(leftMs - (found.atNs - removal.atNs) / 1e6 > READING_MS)) return undefined;
  const isTakenToo = (change: Change) => takesAll(change) || takesItself(change, name, observations);
  if (list.slice(gone + 1, taken.at).some(isTakenToo)) return undefined;
  const jumps = onlyJumpsBetween(node, set.ranFromNs, removal.atNs, leftMs, evidence);
  if (!jumps) return undefined;
  const took = `${by.client} took ${hold.client}'s permit in ${key} out as over by ${node}'s clock (${by.name}), which had jumped ahead`;
  return {
    name: 'clock-jumped',
    sentence: `${took}; by the machine's own ${durationOfMs(Math.round(leftMs))} of its time was left. ${taken.hold.client} was granted ${hold.key} after that.`,
    chain: [
      { atNs: list[at]!.atNs, text: `${node} stored ${hold.client}'s permit in ${key}`, observation: list[at]!.line },
      ...jumps.map(moveLink),
      { atNs: removal.atNs, text: took, observation: removal.line },
      {
        atNs: taken.list[taken.at]!.atNs,
        text: `${node} stored ${taken.hold.client}'s permit in ${key}`,
        observation: taken.list[taken.at]!.line,
      },
      leaseLink(member),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** Whether it would have taken out whoever stood there: the set was removed as a whole, or lost. */
function takesAll({ how, by, before, after }: Change): boolean {
  if (before.exists === 'no' || how === 'sample') return false;
  return how !== 'command' || (after.exists !== 'yes' && by?.name !== 'ZREM' && by?.name !== 'ZREMRANGEBYSCORE');
}

/**
 * Whether a command would have taken out that member, found or not: it names it, as its own client's does that gives back, or it takes
 * out by a time that the server's clock did not show.
 */
function takesItself({ by, line }: Change, name: string, observations: Observations): boolean {
  if (by?.name === 'ZREMRANGEBYSCORE') return !(boundOf(observations, line) - by.serverWallMs <= READING_MS);
  const seen = by?.name === 'ZREM' ? observations.line(line) : undefined;
  return seen?.type === 'command' && seen.argv.slice(2).includes(name);
}

/** Up to which score a command took members out; NaN: it does not say. */
function boundOf(observations: Observations, line: number): number {
  const seen = observations.line(line);
  return seen?.type === 'command' && seen.argv.length === 4 ? Number(seen.argv[3]) : Number.NaN;
}

/** Whether a request was given a time of day, or may have been. */
function tellsTime(observations: Observations, line: number): boolean {
  const request = observations.line(line);
  return request?.type !== 'command' || request.argv.some(isTimeOfDay);
}
