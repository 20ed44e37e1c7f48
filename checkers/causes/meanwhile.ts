/**
 * What must not have happened between two writes on a node, for a cause to be the only one that is left: each is a way in which
 * a key may go without a line that says so.
 */
import { type ClockMove, clockMovesOf, mayMoveBetween } from '../../harness/record/facts/clock-moves.js';
import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin } from '../../harness/record/facts/commands/state.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import {
  type ClockReading,
  EMPTIES,
  type KeyWrite,
  keeps,
  type SampleObservation,
} from '../../harness/record/facts/key-writes.js';
import type { CauseLink, Hold } from '../../harness/vocabulary/verdict.js';

/** A client that was granted the lock. */
export interface Party {
  hold: Hold;
  /** Where and how it was granted. */
  write: KeyWrite;
}

/** Redis reckons in whole milliseconds. */
export const BLUR_MS = 2;
/** A command is read within this time of running, so a clock that moved by less looks like one that did not. */
export const READING_MS = 50;
/** A look at a server was answered at most so long before it was recorded. */
export const ANSWERED_WITHIN_NS = 20e6;
/** A server that is made a replica is not made primary again within this: others have to miss the new one, and agree on it. */
export const UNSEEN_NS = 500e6;
/** A server that starts again is looked at within this time. */
const LOOKED_AT_WITHIN_NS = 100e6;

/**
 * Whether a write came over the replication link, or may have: between two samples its node may have been made a replica. What
 * is read when the node has been promoted may have run before; where its clock was off, nobody knows when it ran.
 */
export function isReplicated(write: KeyWrite, evidence: Evidence): boolean {
  if (write.client !== undefined) return false;
  const ranNs = evidence.isPlaced(write) ? write.ranNs : write.atNs - OBSERVED_WITHIN_NS;
  const fromNs = Math.min(ranNs, write.atNs);
  const around = [
    evidence.lastSample(write.node, fromNs),
    ...evidence.samples(write.node, fromNs, write.atNs),
    evidence.firstSample(write.node, write.atNs, () => true),
  ];
  return around.some((sample) => sample?.[1].role !== 'primary');
}

/**
 * Whether the node's data as a whole may have become another's between the two instants: it was a replica, and some other node
 * that it may have followed started again, or became primary.
 */
export function mayHaveBeenReplaced(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const asReplica = evidence.lastAsReplica(node, untilNs);
  if (!asReplica) return false;
  if (asReplica[1].atNs < fromNs && evidence.lastSample(node, fromNs)?.[1].role === 'primary') return false;
  const promoted = evidence.firstSample(node, asReplica[1].atNs, ({ role }) => role === 'primary');
  const lookedNs = asReplica[1].linkUp === false ? 0 : LOOKED_AT_WITHIN_NS;
  const byNs = Math.min(untilNs, promoted?.[1].atNs ?? untilNs) + lookedNs;
  return evidence.nodes.some((other) => {
    if (other === node) return false;
    const before = evidence.lastSample(other, fromNs)?.[1];
    return evidence
      .samples(other, fromNs, byNs)
      .some(([, { runId, role }]) => runId !== before?.runId || (role === 'primary' && before.role !== 'primary'));
  });
}

/** What a look or a client's write showed of a node; a replica turns its clients' writes away. */
interface Sight {
  atNs: number;
  role: string;
  linkUp?: boolean | undefined;
}

/**
 * What was seen of a node between the two instants, from the last sight up to the first on; undefined where it was not seen for
 * so long that it may have become something else, and what it was again.
 */
function sightsOf(node: string, fromNs: number, untilNs: number, evidence: Evidence): Sight[] | undefined {
  // One that was seen longer ago was not seen for too long.
  const sinceNs = fromNs - UNSEEN_NS;
  const served = evidence.servedNs(node);
  const first = firstIndex(served.length, (at) => served[at]! >= sinceNs);
  const seen: Sight[] = evidence.samples(node, sinceNs, untilNs).map(([, sample]) => sample);
  for (let at = first; at < served.length && served[at]! <= untilNs; at++)
    seen.push({ atNs: served[at]!, role: 'primary' });
  seen.sort((a, b) => a.atNs - b.atNs);
  const last = seen.findLastIndex(({ atNs }) => atNs <= fromNs);
  if (last < 0) return undefined;
  const since = seen.slice(last);
  const times = [...since.map(({ atNs }) => atNs), untilNs];
  return times.every((atNs, n) => n === 0 || atNs - times[n - 1]! <= UNSEEN_NS) ? since : undefined;
}

/** Whether a node was primary all the time between the two instants. */
export function wasPrimaryThroughout(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  return sightsOf(node, fromNs, untilNs, evidence)?.every(({ role }) => role === 'primary') ?? false;
}

/** Whether a node was a replica all the time between the two instants, up to the first look after them. */
export function wasReplicaThroughout(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const after = evidence.firstSample(node, untilNs, () => true);
  const sights = after && sightsOf(node, fromNs, after[1].atNs, evidence);
  return sights?.every(({ role }) => role === 'replica') ?? false;
}

/**
 * Whether a replica that had lost its primary at one sight, and was primary itself at the next, may have found one again in
 * between, and loaded all that it had: another node was primary, did not die with the link, and was in reach at some time.
 */
function mayHaveSynced(node: string, lost: Sight, promoted: Sight, evidence: Evidence): boolean {
  return evidence.nodes.some((other) => {
    // Itself it was a replica.
    const before = evidence.lastSample(other, lost.atNs)?.[1];
    if (before?.role !== 'primary') return false;
    const after = evidence.firstSample(other, lost.atNs, () => true)?.[1];
    // One that dies is not watched any more.
    const lived = evidence.watchedThroughout(other, lost.atNs, lost.atNs) || after?.runId === before.runId;
    return lived && evidence.effects.whyNoVote(other, node, lost.atNs, promoted.atNs) === undefined;
  });
}

/**
 * Whether a node took over no other's data as a whole between the two instants: it was seen all the time, and never to be made
 * a replica or to have found its primary again, nor can it have just before it was made primary itself; nor did any that it may
 * have followed start again, or take over.
 */
export function keptItsData(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  if (mayHaveBeenReplaced(node, fromNs, untilNs, evidence)) return false;
  const sights = sightsOf(node, fromNs, untilNs, evidence);
  return (
    sights?.every((sight, n) => {
      const { role, linkUp } = sight;
      const last = sights[n - 1];
      if (!last) return true;
      if (role !== 'primary' && last.role === 'primary') return false;
      if (last.linkUp !== false) return true;
      return role === 'primary' ? !mayHaveSynced(node, last, sight, evidence) : linkUp === false;
    }) ?? false
  );
}

/** Kills of a node after which it had forgotten something, in the order of the records that tell of them. */
export function forgettingKills(node: string, { effects }: Evidence): EffectSpan[] {
  return effects
    .on('forgot', node)
    .filter(({ record }) => record.effects.some((effect) => effect.kind === 'killed' && effect.who.includes(node)));
}

/**
 * Whether a command emptied a node between two lines: of a key that was not seen by then nothing else tells that it is gone.
 * `resource`: one of the run's keys.
 */
export function wasEmptied(
  node: string,
  resource: string,
  evidence: Evidence,
  fromLine = Number.NEGATIVE_INFINITY,
  untilLine = Number.POSITIVE_INFINITY,
): boolean {
  return evidence
    .writes(node, resource)
    .some(({ command, observation }) => EMPTIES.has(command) && observation > fromLine && observation < untilLine);
}

/** Whether the node was seen to run as another process than before, between the two instants. */
export function ranAnew(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const before = evidence.lastSample(node, fromNs)?.[1].runId;
  const ids = new Set(evidence.samples(node, fromNs, untilNs).map(([, { runId }]) => runId));
  if (before !== undefined) ids.add(before);
  return ids.size > 1;
}

/**
 * Whether the write that took the key shows that nothing was there: it asked, and for nothing else, by which a script may have
 * gone; and it is not the holder's own value, for which one may let it pass. What asks for fields alone shows that of one that
 * came with the holder: an HSETNX of its own client's says nothing of another's.
 */
export function foundNone({ reached, gone }: { reached: KeyWrite | undefined; gone: KeyWrite }): boolean {
  const { conditional, askedElsewhere, askedParts, value } = gone;
  const isOfHolder = (part: string) => reached?.after !== undefined && stores(reached.after, part) === 'yes';
  const isWhole = !askedParts || askedParts.some(isOfHolder);
  return conditional === true && !askedElsewhere && isWhole && value !== reached?.value;
}

/**
 * The write from which the key's time on its node was reckoned last, as the client gave it that asked for it; undefined if that
 * cannot be told, or another client than the holder asked. Who stores another owner beside the holder's gives both one time.
 */
export function lastProlonged(
  reached: KeyWrite,
  { earlier, gone, key }: { earlier: Party; gone: KeyWrite; key: string },
  evidence: Evidence,
): { last: KeyWrite; origin: KeyWrite | undefined } {
  const prolongs = (write: KeyWrite) =>
    write.effect === 'prolong' ||
    (write.effect === 'take' && write.took !== false && write.value === reached.value) ||
    timesBeside(write, reached.value);
  const last = evidence.writesBetween(reached, gone, key).findLast(prolongs) ?? reached;
  if (last === earlier.write) return { last, origin: last };
  // What is left goes with a key to another node of a Cluster, and is counted anew when it is there.
  const apartMs = last.command.startsWith('RESTORE') ? READING_MS : BLUR_MS;
  const asked =
    last.client !== undefined
      ? [last]
      : evidence
          .writes(earlier.write.node, key)
          .filter((write) => prolongs(write) && Math.abs(write.expiresWallMs - last.expiresWallMs) <= apartMs);
  // Where others asked for the same to the millisecond, it may be theirs.
  const isOwn = asked.every(({ client }) => client === earlier.hold.client);
  return { last, origin: isOwn ? asked[0] : undefined };
}

/** Whether a request left an owner where it was, and changed the time of all that is there. */
function timesBeside(write: KeyWrite, owner: string | undefined): boolean {
  const [was, is] = [write.before?.expires, write.after?.expires];
  return keeps(write, owner) && (was?.fromMs !== is?.fromMs || was?.untilMs !== is?.untilMs);
}

/** A moment after a write and up to an instant at which, by the node's own clock, the time that it set was over. */
export function overMeanwhile(
  last: KeyWrite,
  node: string,
  untilNs: number,
  evidence: Evidence,
): ClockReading | undefined {
  // Since the sample before it the clock may have moved, so the write's own stamp is what counts.
  const skewMs = evidence.skewAt(last);
  const sampled = evidence
    .samples(node, last.atNs, untilNs)
    .map(([, sample]) => ({ atNs: sample.atNs, aheadMs: sample.skewMs - skewMs }));
  return [...evidence.clockFaults(node, last.atNs, untilNs), ...sampled].find(({ atNs, aheadMs }) => {
    const wallMs = last.serverWallMs + (atNs - last.atNs) / 1e6 + aheadMs;
    return aheadMs > READING_MS && wallMs >= last.expiresWallMs + BLUR_MS;
  });
}

/** Whether the time that a write set was certainly left when a sample was taken, and was at no moment before seen to be over. */
export function hadTimeLeft(last: KeyWrite, sample: SampleObservation, evidence: Evidence): boolean {
  const skewMs = evidence.lastSample(last.node, last.atNs)?.[1].skewMs ?? 0;
  const reckonedMs = last.serverWallMs + (sample.atNs - last.atNs) / 1e6 + sample.skewMs - skewMs;
  const wallMs = sample.wallMs?.[1] ?? reckonedMs;
  return wallMs < last.expiresWallMs - BLUR_MS && !mayHaveBeenOver(last, last.node, sample.atNs, evidence);
}

/** By how much faults made a node's clock gain between the two instants, milliseconds; undefined: none did. */
export function gainedMsBetween(node: string, fromNs: number, untilNs: number, evidence: Evidence): number | undefined {
  const gains = evidence.clockGains(node, fromNs, untilNs);
  return gains.length === 0 ? undefined : gains.reduce((sumMs, { gainedMs }) => sumMs + gainedMs, 0);
}

/** Whether the time that a write set was seen to be over on a node by then, or may have been between two looks, while its clock ran fast. */
export function mayHaveBeenOver(last: KeyWrite, node: string, untilNs: number, evidence: Evidence): boolean {
  const gainedMs = gainedMsBetween(node, last.ranNs, untilNs, evidence);
  const mostMs = last.serverWallMs + (untilNs - last.atNs) / 1e6 + (gainedMs ?? 0);
  if (gainedMs !== undefined && mostMs >= last.expiresWallMs - BLUR_MS) return true;
  return overMeanwhile(last, node, untilNs, evidence) !== undefined;
}

/** Whether the looks between two instants saw a clock differently far off, or a fault may have moved it then. */
export function wasMovedBetween(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  if (clockMovesOf(evidence.effects, node).some((move) => mayMoveBetween(move, fromNs, untilNs))) return true;
  const [first, ...later] = evidence.samples(node, fromNs, untilNs).map(([, { skewMs }]) => skewMs);
  return later.some((skewMs) => Math.abs(skewMs - first!) > READING_MS);
}

/**
 * Whether it was its client's own doing for how long a request stored something. A time of day is taken by the server's clock, and
 * was reckoned by its client's: if that of the server is 3 s ahead, "until in 5 s" is 2 s to it.
 */
export function isByRightClocks(
  { untilTimeOfDay, client, serverWallMs, atNs }: Pick<Origin, 'untilTimeOfDay' | 'client' | 'serverWallMs' | 'atNs'>,
  ranNs: number,
  evidence: Evidence,
): boolean {
  if (!untilTimeOfDay) return true;
  if (client === undefined || Math.abs(evidence.skewAt({ ranNs, serverWallMs })) > READING_MS) return false;
  return !clockMovesOf(evidence.effects, client).some(({ span }) => span.earliestNs <= atNs);
}

/**
 * What moved a node's clock between the two instants, where jumps alone may have, a fault tells of each, and by these it came ahead by so
 * much; undefined otherwise. The clock of the machine may have been stepped as well, and a server's goes with it.
 */
export function onlyJumpsBetween(
  node: string,
  fromNs: number,
  untilNs: number,
  aheadMs: number,
  evidence: Evidence,
): readonly ClockMove[] | undefined {
  const moves = clockMovesOf(evidence.effects, node).filter((move) => mayMoveBetween(move, fromNs, untilNs));
  if (moves.some(({ ratePpm, strobes }) => ratePpm !== 0 || strobes)) return undefined;
  const gainedMs = gainedMsBetween(node, fromNs, untilNs, evidence);
  return gainedMs !== undefined && gainedMs >= aheadMs - READING_MS ? moves : undefined;
}

/** That a fault moved a clock. */
export function moveLink({ span: { record } }: Pick<ClockMove, 'span'>): CauseLink {
  return { atNs: record.atNs, text: record.did, history: record.i };
}
