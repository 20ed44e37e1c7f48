/**
 * Those who share a lock are kept in one number, and the number was wrong: it expired while one of them held (`count-expired`; by a
 * clock that had jumped ahead: `clock-jumped`), or somebody gave back more than it had taken (`returned-too-often`).
 *
 * Example: readers are counted in `lock:0:readers`, which the first of them gives 1 s to live. c2 comes in after that for 5 s. The
 * number is gone before c2 is, and a writer finds nobody reading.
 *
 * Example: c1 gives its permit back, and a timer of c1 does so again. Two permits are free, and c2 and c3 take them beside c4.
 *
 * Named where a server was seen to count the holders, each for its own client and within the attempt that was granted, which stored
 * nothing else; everything is known that became of the numbers in question; and the grant that should not have been made asked for the
 * number, and found it free. `count-expired`: a holder was counted in a number that expired when it stood for somebody, and whose time
 * was set by a client; the server's clock was not moved since, or it was put back and the number was there still. `clock-jumped`: the
 * same, where by the machine's own clock some of that time was left, and jumps alone moved that of the server, ahead by as much. The
 * holder still holds at that grant, or it gave back to the next number, which had never counted it: by a release that was answered
 * before that grant, and the only command of its client that can have given back, from when that release began until it was answered.
 * Nor can a renewal of its client have counted that anew. Each such loss alone would have let that grant through, whatever else befell
 * the number. `returned-too-often`: to one number a client gave back more than it had taken of it, what it holds aside, and could have
 * held when that number was made; and that number would have let that grant through had it counted all who held. Where a number stood
 * for nobody when it expired, or was removed by who counts, the reason is looked for in that number.
 *
 * Excludes numbers that were lost in any other way, or that strangers and replication links had a hand in; independent nodes; and
 * locks that keep holders by name, or in more than one number.
 */
import type { ClockMove } from '../../harness/record/facts/clock-moves.js';
import { type Change, lastTimed } from '../../harness/record/facts/commands/changes.js';
import { type Origin, stateBy } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { mayTakeEffectWithin } from '../../harness/record/facts/intervals.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { CommandObservation, History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { leaseLink } from './contest.js';
import { countedBy, directionOf, type OwnChange, tellsOf } from './counted-holds.js';
import { gaveBackLate, type Missing } from './gave-back-late.js';
import { hasLooked } from './lost-with-server.js';
import { isByRightClocks, keptItsData, moveLink, onlyJumpsBetween, READING_MS, wasMovedBetween } from './meanwhile.js';
import { RelatedKeys } from './own-stores.js';
import { accountsOf, type Count, countStep, numberIn } from './shared-accounts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

export function sharedCount(overlap: Overlap, input: CheckInput): Cause | undefined {
  const { model } = input;
  if (model.kind !== 'semaphore' && model.kind !== 'read-write') return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const counted = [overlap.first, ...overlap.others].map((hold) => countedBy(hold, evidence, related));
  const [one] = counted;
  if (!one || !counted.every((other) => other?.node === one.node && other.key === one.key)) return undefined;
  const holders = (counted as OwnChange[]).sort((a, b) => a.at - b.at);
  const direction = directionOf(holders, overlap.second, input, evidence, related);
  if (direction === undefined) return undefined;
  const count: Count = { direction, absent: model.kind === 'semaphore' && direction < 0 ? model.permits : 0 };
  const wrong = wrongGrant(overlap.second, one, count, model, evidence, related);
  if (!wrong || holders.some(({ at }) => at >= wrong.until)) return undefined;
  // Who never asks for the number is granted it whatever that says.
  const tells = tellsOf(wrong.left, { list: one.list, at: wrong.until }, overlap.second);
  if (!hasLooked(overlap.second, [one], { node: one.node, next: wrong }, input.observations, tells)) return undefined;
  return wrongBy(holders, wrong, overlap, count, evidence, input, related);
}

/** The grant that should not have been made, beside what became of the number. */
interface Wrong {
  /** Of the changes, the first that did not come before it. */
  readonly until: number;
  /** What it found of the number. */
  readonly left: Change['before'];
  readonly line: number;
  readonly atNs: number;
  /** As of `Change`. */
  readonly ranFromNs: number;
}

/** Undefined as well where the number was against it: a grant that did not go by the number is wrong for another reason. */
function wrongGrant(
  second: Hold,
  { node, key, list }: OwnChange,
  count: Count,
  model: LockModel,
  evidence: Evidence,
  related: RelatedKeys,
): Wrong | undefined {
  if (model.kind === 'semaphore') {
    const own = countedBy(second, evidence, related);
    if (own?.node !== node || own.key !== key) return undefined;
    const { line, atNs, ranFromNs, before: left, after } = list[own.at]!;
    // What its client gave back before may have been read late.
    if (countStep(list[own.at]!, count) !== 1) return undefined;
    const isFull = count.direction < 0 ? numberIn(after) < 0 : numberIn(after) > model.permits;
    return isFull ? undefined : { until: own.at, left, line, atNs, ranFromNs };
  }
  const grant = evidence.grantsOf(second).at(-1);
  if (grant?.took !== true || grant.node !== node) return undefined;
  const { observation: line, atNs, ranNs, serverWallMs } = grant.write;
  const until = firstIndex(list.length, (n) => list[n]!.line > line);
  const last = list[until - 1];
  // That it expires changes nothing until somebody stores there again.
  const left = last && stateBy(last.after, { fromMs: serverWallMs, untilMs: serverWallMs });
  return left && numberIn(left) === 0 ? { until, left, line, atNs, ranFromNs: Math.min(ranNs, atNs) } : undefined;
}

function wrongBy(
  holders: readonly OwnChange[],
  wrong: Wrong,
  overlap: Overlap,
  count: Count,
  evidence: Evidence,
  input: CheckInput,
  related: RelatedKeys,
): Cause | undefined {
  const { list } = holders[0]!;
  const accounts = accountsOf(list, count);
  const sinceNs = list[Math.max(accounts.madeAt(holders[0]!.at), 0)]!.atNs;
  if (evidence.isReplicated && !keptItsData(holders[0]!.node, sinceNs, wrong.ranFromNs, evidence)) return undefined;
  /** Why a holder was missing in the next number: that was lost, or it stood for none by then, and that has a reason of its own. */
  const whyMissing = (one: Missing): Cause | undefined => {
    const { counted, back } = one;
    const loss = lossOf(counted, wrong, count);
    // Whoever removes the number gives back what it stood for.
    const lost = loss?.before ?? accounts.goneAfter(counted.at) + 1;
    if (lost > wrong.until) return undefined;
    // A renewal that finds no number counts its client anew.
    if (accounts.mayCount(counted.hold.client, lost, back ? list.indexOf(back) : wrong.until)) return undefined;
    if (loss && loss.stood > 0) return causeOfLoss(one, loss, overlap, evidence, input);
    return whyLess(accounts.madeAt(counted.at), lost);
  };
  /** Why a number came to say less than it should, between the change that made it and another one. */
  const whyLess = (made: number, end: number): Cause | undefined => {
    if (made < 0 || made >= end || !accounts.between(made, end)) return undefined;
    // Had strangers given nothing back, and all who held been counted, what clients gave back may not have been enough.
    const uncounted = end === wrong.until ? holders.filter(({ at }) => at < made).length : 0;
    const more = accounts.byStrangers(made, end) + uncounted;
    const isEnough = more === 0 || (end === wrong.until && isFreeStill(wrong.left, more, count, input));
    if (!isEnough) return undefined;
    const late = firstOf(gaveBackLate(holders[0]!, made, end, wrong.atNs, count, input, evidence, related), whyMissing);
    return late ?? excessReturn(holders, made, end, overlap, count, input);
  };
  const made = wrong.left.exists === 'no' ? wrong.until : wrong.until > 0 ? accounts.madeAt(wrong.until - 1) : -1;
  if (made < 0) return undefined;
  const missing = holders.filter(({ at }) => at < made).map((counted): Missing => ({ counted }));
  return firstOf(missing, whyMissing) ?? whyLess(made, wrong.until);
}

function firstOf<T>(all: readonly T[], why: (one: T) => Cause | undefined): Cause | undefined {
  for (const one of all) {
    const cause = why(one);
    if (cause) return cause;
  }
  return undefined;
}

function causeOfLoss(
  { counted, back }: Missing,
  loss: Loss,
  overlap: Overlap,
  evidence: Evidence,
  { observations }: CheckInput,
): Cause | undefined {
  const { hold, node, key, list } = counted;
  const set = lastTimed(list, loss.seen + 1);
  if (set?.by?.client === undefined) return undefined;
  const { by } = set;
  if (!isByRightClocks(by, set.ranFromNs, evidence)) return undefined;
  const shows = observations.line(loss.line) as CommandObservation;
  const over = whyOver(set, by, list[loss.seen]!, { ...loss, wallMs: shows.serverWallMs, node }, evidence);
  if (!over) return undefined;
  const { name, jumps } = over;
  const timed = `the time that ${by.client} had set for it (${by.name})`;
  const time = name === 'count-expired' ? `by ${timed}` : `by its clock, which had jumped since ${timed} began`;
  const when =
    hold.untilNs < loss.atNs
      ? `before ${hold.client} had given ${hold.key} back`
      : `while ${hold.client} held ${hold.key}`;
  const text = back && `${hold.client} gave back to the next ${key} on ${node}, which had not counted it`;
  return {
    name,
    sentence: `${node} had counted ${hold.client} in ${key}, which expired ${when}, ${time}; ${text ? `${text}; ` : ''}${overlap.second.client} was granted it after that.`,
    chain: [
      countedLink(counted),
      ...jumps.map(moveLink),
      { atNs: loss.atNs, text: `${key} had expired on ${node}, ${time}`, observation: loss.line },
      ...(text ? [{ atNs: back.atNs, text, observation: back.line }] : []),
      grantedLink(overlap),
      ...(back ? [] : [leaseLink({ hold })]),
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/**
 * Whether the time that was set was over, or the clock had jumped ahead while some of it was left by the machine's own; undefined: it
 * cannot be told. `seen` is the last that was seen of the number before it was gone.
 */
function whyOver(
  set: Change,
  { serverWallMs }: Origin,
  seen: Change,
  { node, atNs, ranFromNs, wallMs }: Pick<Loss, 'atNs' | 'ranFromNs'> & { node: string; wallMs: number },
  evidence: Evidence,
): { name: 'count-expired' | 'clock-jumped'; jumps: readonly ClockMove[] } | undefined {
  const expired = { name: 'count-expired', jumps: [] } as const;
  // By when they ran: either may have been read late.
  const gainedMs = wallMs - serverWallMs - (ranFromNs - set.ranFromNs) / 1e6;
  if (!wasMovedBetween(node, set.ranFromNs, atNs, evidence))
    // Nor by a jump that nobody told of, and that no look has shown yet.
    return gainedMs > READING_MS ? undefined : expired;
  const leftMs = set.after.expires.fromMs - serverWallMs - (atNs - set.ranFromNs) / 1e6;
  if (leftMs > READING_MS) {
    const jumps = onlyJumpsBetween(node, set.ranFromNs, atNs, leftMs, evidence);
    return jumps && { name: 'clock-jumped', jumps };
  }
  // It had longer than it was given, where the clock was put back; and was there still when that was done.
  const isPutBack = gainedMs < -READING_MS && !wasMovedBetween(node, seen.ranFromNs, atNs, evidence);
  return isPutBack ? expired : undefined;
}

/**
 * That the number had expired, which the line of a command shows; `before`: the first change that came after it, `seen`: the last that
 * tells what it was.
 */
interface Loss {
  readonly before: number;
  readonly seen: number;
  readonly line: number;
  readonly atNs: number;
  readonly ranFromNs: number;
  /** For how many it stood. */
  readonly stood: number;
}

/**
 * That the number in which a holder was counted was lost by its time, and for how many it stood; undefined: it was not, or it is not
 * known.
 */
function lossOf(
  { list, at }: OwnChange,
  { until, left, line, atNs, ranFromNs }: Wrong,
  count: Count,
): Loss | undefined {
  const accounts = accountsOf(list, count);
  const gone = Math.min(accounts.goneAfter(at), until);
  if (!accounts.between(Math.max(accounts.madeAt(at), 0), gone)) return undefined;
  let seen = gone - 1;
  // That it may have expired, a clock having been set, says nothing of what it stood for.
  while (seen > at && list[seen]!.how === 'expired') seen--;
  const stood = Math.max(0, (numberIn(list[seen]!.after) - count.absent) * count.direction);
  if (Number.isNaN(stood)) return undefined;
  if (gone === until) return left.exists === 'no' ? { before: until, seen, line, atNs, ranFromNs, stood } : undefined;
  const change = list[gone]!;
  // What time took of none is no loss; nor is it what a removal took.
  if (stood > 0 && change.how !== 'expired') return undefined;
  return { before: gone, seen, line: change.line, atNs: change.atNs, ranFromNs: change.ranFromNs, stood };
}

/** Whether the number would let one more in, had it stood for so many more. */
function isFreeStill(
  left: Change['before'],
  more: number,
  { direction, absent }: Count,
  { model }: CheckInput,
): boolean {
  const stood = (numberIn(left, absent) - absent) * direction + more;
  return model.kind === 'semaphore' ? stood < model.permits : stood <= 0;
}

/** Who gave back more, while a number was there, than it had taken of it and could have held when it was made. */
function excessReturn(
  holders: readonly OwnChange[],
  made: number,
  end: number,
  overlap: Overlap,
  count: Count,
  { history }: CheckInput,
): Cause | undefined {
  const { list, node, key } = holders[0]!;
  const accounts = accountsOf(list, count);
  const since = accounts.between(made, end);
  const held = (client: string, from: number, until: number) =>
    heldBy(
      client,
      holders.filter(({ at }) => at >= from && at < until),
    );
  const excess = [...(since ?? [])].find(([client, { taken, returned }]) => {
    const old = accounts.leftOf(client, made, (untold, sinceNs) =>
      mayHaveTaken(client, overlap.second.key, untold, sinceNs, history),
    );
    const mayHaveHeld = old === undefined ? undefined : Math.max(0, old - held(client, 0, made));
    return mayHaveHeld !== undefined && returned - (taken - held(client, made, end)) > mayHaveHeld;
  });
  if (!excess) return undefined;
  const [client, { taken, returned, last }] = excess;
  const holding = held(client, made, end);
  const text = `by then ${client} had given back ${returned} of ${overlap.second.key}, and had taken ${taken}${holding > 0 ? `, of which it held ${holding}` : ''}`;
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

/** Whether a client may have been counted in while something happened of which it is not known what: it was asking for the key. */
function mayHaveTaken(client: string, key: string, { how, atNs }: Change, sinceNs: number, history: History): boolean {
  if (how !== 'gap' && how !== 'sample') return true;
  const { operations: ops } = history;
  const [who, what] = [ops.clients.indexOf(client), ops.keys.indexOf(key)];
  for (let row = 0; row < ops.count; row++)
    if (
      ops.client[row] === who &&
      ops.key[row] === what &&
      ops.op[row] === OP.acquire &&
      ops.outcome[row] !== OUTCOME.fail &&
      mayTakeEffectWithin(history, row, sinceNs, atNs)
    )
      return true;
  return false;
}

function heldBy(client: string, holders: readonly OwnChange[]): number {
  return holders.filter(({ hold }) => hold.client === client).length;
}

function countedLink({ hold: { client }, node, key, list, at }: OwnChange): CauseLink {
  return { atNs: list[at]!.atNs, text: `${node} counted ${client} in ${key}`, observation: list[at]!.line };
}

function grantedLink({ second }: Overlap): CauseLink {
  return { atNs: second.fromNs, text: `${second.client} was granted ${second.key}`, history: second.evidence[1]! };
}
