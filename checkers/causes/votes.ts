/**
 * Which of several nodes may have granted a hold, of those that decide independently of each other.
 *
 * A node did not grant it where every request of the attempt found another owner's value there, which it did not remove to ask once
 * more, nor saw to be what its client had stored before; where it was asked for
 * nothing that was seen, watched from before the attempt left until a second after its answer, or until a line was read of what ran
 * after that (what a server runs just before it is killed is not always printed), and had nothing that the client had stored before;
 * or where it was dead, stopped or out of the client's reach for the whole attempt. In every other case it may have.
 */
import { clockMovesOf, mayMoveBetween } from '../../harness/record/facts/clock-moves.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import { ALL_TIME, type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { asksFor, foundAnother, type KeyWrite, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { keptItsData } from './meanwhile.js';
import { PARTED_NS } from './own-stores.js';

/** How far a clock is off is known to some milliseconds. */
const STEADY_WITHIN_MS = 10;

/** `voter`: one of `evidence.voters`. Of one that has several servers any may have granted it. */
export function mayHaveGranted(voter: string, hold: Hold, evidence: Evidence): boolean {
  const servers = evidence.serversOfVoters?.[evidence.voters.indexOf(voter)] ?? [voter];
  return servers.some((node) => serverMayHaveGranted(node, hold, evidence));
}

function serverMayHaveGranted(node: string, hold: Hold, evidence: Evidence): boolean {
  if (whyNoVote(node, hold, evidence)) return false;
  // A node that refused may have been asked again, and that be missing.
  if (!watchedForAttempt(node, hold, evidence)) return true;
  const grant = evidence.grantsOf(hold).find((one) => one.node === node);
  if (grant) {
    if (grant.took !== false || !foundAnother(grant.write) || mayHaveBeenAsked(node, hold, evidence)) return true;
    return mayHaveTaken(node, hold, evidence) || mayHaveFoundItsOwn(node, hold, evidence);
  }
  return mayHaveBeenAsked(node, hold, evidence) || mayKeepFor(node, hold, evidence);
}

/** Whether another request of the attempt may have taken what one was refused: its client may have removed in between what was there. */
function mayHaveTaken(node: string, hold: Hold, evidence: Evidence): boolean {
  return evidence
    .writes(node, hold.key)
    .some((write) => write.effect === 'take' && write.took !== false && mayBeOfAttempt(write, hold, evidence));
}

/** Whether its client may have seen on the node what it had stored there before the attempt, and taken that for a grant. */
export function mayHaveFoundItsOwn(node: string, hold: Hold, evidence: Evidence): boolean {
  return hasLooked(node, hold, evidence) && mayKeepFor(node, hold, evidence);
}

/** Whether a request of the attempt told its client whose the key was: SET NX says only that it is there, unless with GET. */
function hasLooked(node: string, { key, client, grantSentNs, fromNs }: Hold, evidence: Evidence): boolean {
  return evidence
    .writes(node, key)
    .filter((write) => write.client === client && write.atNs >= grantSentNs - RECKONING_NS)
    .filter((write) => !evidence.isPlaced(write) || write.ranNs <= fromNs + RECKONING_NS)
    .some(({ script, comparing, effect, told }) => told || (script ? comparing : effect === 'none'));
}

/**
 * Whether all that a node ran of the attempt was seen. The observer reads a little behind, and a record that breaks off lacks
 * what came just before, but nothing that came before a line which it has.
 */
export function watchedForAttempt(node: string, hold: Hold, evidence: Evidence): boolean {
  const untilNs = lineAfter(node, hold, evidence)?.atNs ?? hold.fromNs + OBSERVED_WITHIN_NS;
  return evidence.watchedThroughout(node, hold.grantSentNs - RECKONING_NS, untilNs);
}

/**
 * The first request of a node, read within a second of a hold's answer, that certainly ran after that: by a clock that nothing moved
 * since the attempt left. A server prints what it runs in order, so all of the attempt was read before it, and whatever comes later
 * is none of it: be the server killed then, or its clock moved.
 */
export function lineAfter(node: string, hold: Hold, evidence: Evidence): KeyWrite | undefined {
  const { key, grantSentNs, fromNs } = hold;
  const writes = evidence.writes(node, key);
  const readNs = fromNs + OBSERVED_WITHIN_NS;
  for (let at = firstIndex(writes.length, (n) => writes[n]!.atNs > fromNs); at < writes.length; at++) {
    const write = writes[at]!;
    if (write.atNs > readNs) break;
    if (evidence.isPlaced(write) && write.ranNs > fromNs + PARTED_NS)
      return hasMoved(node, grantSentNs, write.atNs, evidence) ? undefined : write;
  }
  return undefined;
}

/**
 * Whether a request of which its server's clock does not say when it ran may have run within the attempt: one that was read after
 * that had left; or, where the clock was as far off all the time, one that it then places there. Lines that are read late and
 * all at once can hide which of them it was.
 */
function mayHaveBeenAsked(node: string, hold: Hold, evidence: Evidence): boolean {
  const { key, client, grantSentNs, fromNs } = hold;
  const after = lineAfter(node, hold, evidence);
  return evidence.writes(node, key).some((write) => {
    const { atNs, ranNs } = write;
    if (write.client !== client || atNs < grantSentNs || evidence.isPlaced(write)) return false;
    if (after && write.observation >= after.observation) return false;
    const isRefused = write.took === false && foundAnother(write);
    if (isStampedWithin(write, hold, evidence) && asksFor(write) && !isRefused) return true;
    if (!isSteady(node, grantSentNs, atNs, evidence)) return atNs <= fromNs + OBSERVED_WITHIN_NS;
    return asksFor(write) && !isRefused && ranNs >= grantSentNs - RECKONING_NS && ranNs <= fromNs + RECKONING_NS;
  });
}

/**
 * Whether a request may have been sent in the attempt that was answered with this hold. Where its server's clock does not say
 * when it ran, that is any which was read from when the attempt left until a second after the answer.
 */
export function mayBeOfAttempt(write: KeyWrite, hold: Hold, evidence: Evidence): boolean {
  const { node, ranNs, atNs } = write;
  const { client, grantSentNs, fromNs } = hold;
  if (write.client !== client || !asksFor(write) || atNs < grantSentNs - RECKONING_NS) return false;
  const after = lineAfter(node, hold, evidence);
  if (after && write.observation >= after.observation) return false;
  if (!evidence.isPlaced(write) || hasMoved(node, grantSentNs, atNs, evidence))
    return atNs <= fromNs + OBSERVED_WITHIN_NS || isStampedWithin(write, hold, evidence);
  return ranNs >= grantSentNs - RECKONING_NS && ranNs <= fromNs + RECKONING_NS;
}

/**
 * Whether a request is stamped with what its server's clock showed within the attempt, as far off as it was when that left: what is read
 * seconds late is else placed where it was read.
 */
function isStampedWithin(write: KeyWrite, { grantSentNs, fromNs }: Hold, evidence: Evidence): boolean {
  const skewMs = evidence.lastSample(write.node, grantSentNs)?.[1].skewMs ?? 0;
  const ranNs = evidence.ranByStamp(write, skewMs);
  return ranNs !== undefined && ranNs >= grantSentNs - RECKONING_NS && ranNs <= fromNs + RECKONING_NS;
}

/** Whether a node's clock was as far off all the time: then what it showed says when. */
function isSteady(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const before = evidence.lastSample(node, fromNs);
  const after = evidence.firstSample(node, untilNs, () => true);
  return before !== undefined && after !== undefined && !hasMoved(node, fromNs, untilNs, evidence);
}

/** Whether two looks about then saw a node's clock differently far off, or a fault may have moved it, to and back too. */
function hasMoved(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const before = evidence.lastSample(node, fromNs)?.[1];
  const after = evidence.firstSample(node, untilNs, () => true)?.[1];
  if (!before) return false;
  const byNs = after?.atNs ?? untilNs;
  if (clockMovesOf(evidence.effects, node).some((move) => mayMoveBetween(move, before.atNs, byNs))) return true;
  return evidence
    .samples(node, fromNs, byNs)
    .some(([, { skewMs }]) => Math.abs(skewMs - before.skewMs) > STEADY_WITHIN_MS);
}

/**
 * What kept the node from carrying out anything of the attempt before it was answered, where something certainly did. What it printed
 * counts for more than what a fault had done to it: somebody else may have had it run again.
 */
export function whyNoVote(node: string, hold: Hold, evidence: Evidence): readonly EffectSpan[] | undefined {
  if (evidence.writes(node, hold.key).some((write) => mayBeOfAttempt(write, hold, evidence))) return undefined;
  return evidence.effects.whyNoVote(node, hold.client, hold.grantSentNs, hold.fromNs);
}

/** Whether a node may have had what the client, or one before in its place, had stored there before the attempt. */
function mayKeepFor(node: string, { key, client, grantSentNs, fromNs }: Hold, evidence: Evidence): boolean {
  // Before anything was done to it, no client of this run had stored anything.
  const beganEmpty = isSeenFromTheStart(node, fromNs, evidence);
  const reading = evidence.readingOf(node);
  if (!reading) {
    const samples = evidence.samples(node, Number.NEGATIVE_INFINITY, fromNs);
    return !beganEmpty || samples.some(([, { keys }]) => keys[key] !== undefined);
  }
  const own = evidence.inPlaceOf(client);
  return reading
    .changes(key)
    .spans(grantSentNs - RECKONING_NS, fromNs)
    .some(({ change, state }) => !(change === undefined && beganEmpty) && own.some((one) => mayBeOf(state, one)));
}

/** Whether everything that clients of this run ever did on a node was seen, until an instant, and it loaded nothing of another's. */
export function isSeenFromTheStart(node: string, untilNs: number, evidence: Evidence): boolean {
  const { firstAskedNs } = evidence;
  return (
    evidence.window.fromNs === ALL_TIME.fromNs &&
    evidence.watchedThroughout(node, firstAskedNs, untilNs) &&
    (!evidence.lastAsReplica(node, untilNs) || keptItsData(node, firstAskedNs, untilNs, evidence)) &&
    new Set(evidence.samples(node, firstAskedNs, untilNs).map(([, { runId }]) => runId)).size <= 1
  );
}

/** Whether what is stored may be what the client stored. */
export function mayBeOf({ exists, held }: StoredState, client: string): boolean {
  if (exists === 'no') return false;
  if (!held) return true;
  if (held.type === 'string') return held.by === undefined || held.by.client === client;
  if (held.type === 'list') return held.items?.some(({ by }) => by === undefined || by.client === client) ?? true;
  if (!held.complete) return true;
  return [...held.parts.values()].some(({ there, by }) => there !== 'no' && (by === undefined || by.client === client));
}
