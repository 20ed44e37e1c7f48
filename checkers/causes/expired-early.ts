/**
 * The key ran out on the node before the lease did: by a clock that had moved (`clock-jumped`; `clock-ran-fast` where a
 * fault was seen to make it drift by as much), or because the node had been asked to keep it for less than the lease
 * (`lease-too-short`).
 *
 * Both are read from the node's own clock, which MONITOR prints with every command: by it the key's time was over when the
 * node granted the next client. How much that clock moved between the two grants tells one from the other.
 */

import { type ClockGain, clockMovesOf } from '../../harness/record/facts/clock-moves.js';
import { type Change, partsOf, stores } from '../../harness/record/facts/commands/changes.js';
import { partOf } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { type Contest, type Explanation, goneLink, grantLink, leaseLink, type Reason, ranFrom } from './contest.js';
import {
  BLUR_MS,
  foundNone,
  isByRightClocks,
  lastProlonged,
  mayHaveBeenReplaced,
  overMeanwhile,
  READING_MS,
} from './meanwhile.js';
import { requestLine } from './tenure.js';

/** A command is read so long after it ran at the most. */
const READ_LATE_NS = 1e9;

export const expiredEarly: Reason = (contest, evidence) => {
  const { earlier, reached, gone } = contest;
  if (!reached?.value || !hasRunOut(contest)) return undefined;
  // That it had gone must be certain.
  const wasGone = gone.before !== undefined && stores(gone.before, reached.value) === 'no';
  if (!wasGone && !foundNone(contest)) return undefined;
  // What was not seen may have removed it before.
  if (!evidence.watchedThroughout(gone.node, reached.atNs, gone.atNs)) return undefined;
  if (mayHaveBeenReplaced(gone.node, reached.atNs, gone.atNs, evidence)) return undefined;
  const { last, origin } = lastProlonged(reached, contest, evidence);
  if (!origin || mayHaveGoneBefore(last, contest, evidence) || hadTimeOfItsOwn(last, contest)) return undefined;
  // Then the clock was set back before any client asked for the key. A server removes expired keys by itself, in a while.
  const isSetBack = gone.serverWallMs < last.expiresWallMs - BLUR_MS;
  const ahead = isSetBack ? overMeanwhile(last, gone.node, gone.atNs, evidence) : undefined;
  if (isSetBack && !(ahead && foundNone(contest))) return undefined;
  const movedMs = ahead?.aheadMs ?? movedBetween(origin, gone);
  const leftMs = origin.expiresWallMs - origin.serverWallMs - (gone.atNs - ranFrom(origin)) / 1e6;
  // By the machine's own clock there was time left.
  if (leftMs > 0)
    return movedMs > Math.max(READING_MS, leftMs - READING_MS) && leftMs > mayBeReadLateMs(contest, origin, evidence)
      ? clockMoved(
          contest,
          moveNamed(contest, origin, movedMs, leftMs, evidence),
          movedMs,
          ahead ? gone : origin,
          evidence,
        )
      : undefined;
  // When the next one asked it was over by any clock.
  const ranByNs = evidence.isPlaced(origin) ? origin.ranNs : origin.atNs;
  const overMs = (ranFrom(gone) - ranByNs) / 1e6 - (origin.expiresWallMs - origin.serverWallMs);
  const isOver = overMs > BLUR_MS && (leftMs < -READING_MS || Math.abs(movedMs) < READING_MS);
  const isSteady = Math.abs(movedMs) < READING_MS && wasSteady(origin, gone, evidence);
  const { ttlMs = Number.POSITIVE_INFINITY } = origin;
  const isShort = ttlMs < earlier.hold.leaseMs * 0.9 && isByRightClocks(origin, origin.ranNs, evidence);
  return (isOver || isSteady) && isShort ? tooShort(contest, origin, ttlMs) : undefined;
};

/** Whether time took the key, and nothing else can have; a time that is over when it is set removes what was just stored. */
function hasRunOut({ tenure: { losses }, reached }: Contest): boolean {
  const isOwn = ({ by }: Change) =>
    by !== undefined && requestLine(by) === reached?.observation && by.name.includes('EXPIRE');
  return losses.length > 0 && losses.every((loss) => loss.how === 'expired' || isOwn(loss));
}

/** Whether what was there may have been over when it was last given time: by that other time then, whatever came of this one. */
function mayHaveGoneBefore(last: KeyWrite, { gone, key, tenure }: Contest, evidence: Evidence): boolean {
  const { list } = evidence.readingOf(gone.node)!.changes(key);
  const given = list.findIndex(({ by }) => by !== undefined && requestLine(by) === last.observation);
  return tenure.losses.some((loss) => list.indexOf(loss) < given);
}

/** Whether the holder's field was to expire by itself, before all of the key. */
function hadTimeOfItsOwn(last: KeyWrite, { reached, tenure }: Contest): boolean {
  const parts = tenure.losses[0] && partsOf(tenure.losses[0].before);
  return parts !== undefined && partOf(parts, reached!.value!).expires.fromMs < last.expiresWallMs - READING_MS;
}

/**
 * Whether nothing moved the clock between two commands: then a key that was gone as soon as its time was over, to the
 * millisecond, would have been there for the whole lease.
 */
function wasSteady({ ranNs, atNs, node }: KeyWrite, gone: KeyWrite, evidence: Evidence): boolean {
  const skews = evidence.samples(node, atNs, gone.atNs).map(([, { skewMs }]) => skewMs);
  return (
    node === gone.node &&
    evidence.clockGains(node, ranNs, gone.atNs).length === 0 &&
    // -Infinity where there is none.
    Math.max(...skews) - Math.min(...skews) < READING_MS
  );
}

/** By how much what set the time may have run before the instant that its line is put at, milliseconds. */
function mayBeReadLateMs(contest: Contest, origin: KeyWrite, evidence: Evidence): number {
  return evidence.isPlaced(origin) ? 0 : (ranFrom(origin) - earliestRunNs(contest, origin)) / 1e6;
}

/**
 * When what set the time ran at the earliest where its server's clock was off, as it is while it drifts: a line that was read late is
 * not put in its place then. A grant ran when its attempt had left.
 */
function earliestRunNs({ earlier }: Contest, origin: KeyWrite): number {
  const ranNs = ranFrom(origin);
  return origin === earlier.write ? Math.min(ranNs, earlier.hold.grantSentNs) : ranNs - READ_LATE_NS;
}

/** How much a node's clock gained on the machine's between two commands. */
function movedBetween(first: KeyWrite, second: KeyWrite): number {
  return second.serverWallMs - first.serverWallMs - (second.atNs - first.atNs) / 1e6;
}

/**
 * Whether a clock jumped or ran fast is said where the other would not have done it by itself: no drift was as much as the
 * time that was left, or the only drift had been, before anything else moved the clock.
 */
function moveNamed(
  contest: Contest,
  origin: KeyWrite,
  movedMs: number,
  leftMs: number,
  evidence: Evidence,
): 'clock-jumped' | 'clock-ran-fast' | undefined {
  const { gone } = contest;
  if (origin.node !== gone.node) return moveOfTwo(origin, gone, evidence);
  const [ranNs, earliestNs] = [ranFrom(origin), earliestRunNs(contest, origin)];
  const gains = evidence.clockGains(gone.node, earliestNs, gone.atNs);
  const sum = (all: readonly ClockGain[]) =>
    all.reduce((sumMs, { ratePpm, gainedMs }) => (ratePpm > 0 ? sumMs + gainedMs : sumMs), 0);
  const driftedMs = sum(gains);
  if (driftedMs === 0 || driftedMs < leftMs - (ranNs - earliestNs) / 1e6 - READING_MS) return 'clock-jumped';
  const jumps = gains.filter(({ ratePpm }) => ratePpm === 0);
  // It moved by more than is known of.
  if (jumps.length === 0 && movedMs > driftedMs + READING_MS) return undefined;
  // Of two drifts at once the second may have taken the first one's place.
  const moves = clockMovesOf(evidence.effects, gone.node).filter(
    ({ span }) => span.earliestNs <= gone.atNs && span.latestNs >= earliestNs,
  );
  const drifts = moves.filter(({ ratePpm }) => ratePpm !== 0);
  if (drifts.length > 1) return undefined;
  // What set a drifting clock right sets it right from a jump back, too.
  if (drifts.length < moves.length && drifts.some(({ span }) => span.end && span.end.atNs < gone.atNs))
    return undefined;
  if (looksRefute(gone.node, ranNs, gone.atNs, sum, evidence)) return undefined;
  const byNs = gains.map(({ ratePpm, span }) => (ratePpm > 0 ? span.untilNs : span.earliestNs));
  const aloneUntilNs = Math.min(gone.atNs, ...byNs);
  const leftThenMs = leftMs + (gone.atNs - aloneUntilNs) / 1e6;
  const drifted = sum(evidence.clockGains(gone.node, ranNs, aloneUntilNs));
  // What set a drifting clock right may have undone an earlier jump with it, and that be what it gained.
  const sufficed = drifted > leftThenMs + (aloneUntilNs < gone.atNs ? READING_MS : -READING_MS);
  return sufficed ? 'clock-ran-fast' : undefined;
}

/** Whether between two looks the clock gained less than a drift would have made it gain: something had ended that unsaid. */
function looksRefute(
  node: string,
  fromNs: number,
  untilNs: number,
  drifted: (gains: readonly ClockGain[]) => number,
  evidence: Evidence,
): boolean {
  const looks = evidence.samples(node, fromNs, untilNs).map(([, sample]) => sample);
  const before = evidence.lastSample(node, fromNs)?.[1];
  return [...(before ? [before] : []), ...looks].some((look, n, all) => {
    const next = all[n + 1];
    if (!next) return false;
    const gainedMs = next.skewMs - look.skewMs;
    return drifted(evidence.clockGains(node, look.atNs, next.atNs)) > gainedMs + READING_MS;
  });
}

/** The time was reckoned by the clock of the primary, and was over by its replica's: if all that moved either is of one kind. */
function moveOfTwo(
  origin: KeyWrite,
  gone: KeyWrite,
  { effects }: Evidence,
): 'clock-jumped' | 'clock-ran-fast' | undefined {
  const moves = [origin, gone].flatMap(({ node, atNs }) =>
    clockMovesOf(effects, node).filter(({ span }) => span.earliestNs < atNs),
  );
  if (moves.every(({ ratePpm }) => ratePpm === 0)) return 'clock-jumped';
  return moves.every(({ ratePpm }) => ratePpm > 0) ? 'clock-ran-fast' : undefined;
}

function clockMoved(
  contest: Contest,
  name: 'clock-jumped' | 'clock-ran-fast' | undefined,
  movedMs: number,
  /** Of what it was ahead: of that write's server, as that was when the time was set. */
  { node }: KeyWrite,
  evidence: Evidence,
): Explanation | undefined {
  if (!name) return undefined;
  const { earlier, later, key, gone } = contest;
  const than = node === gone.node ? 'it' : `${node}'s`;
  return {
    name,
    sentence: `${gone.node}'s clock was ${seconds(movedMs)} ahead of where ${than} was when ${earlier.hold.client}'s ${key} was last given time, so it had expired there before its lease had, and ${later.hold.client} was granted it.`,
    chain: [
      grantLink(earlier),
      ...jumpLinks(contest, movedMs, evidence),
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ],
  };
}

/** What else shows it: the fault that did it, be it by its heal, and the samples on its two sides. */
function jumpLinks({ earlier, gone }: Contest, movedMs: number, evidence: Evidence): CauseLink[] {
  const { node } = gone;
  const links: CauseLink[] = evidence
    .clockGains(node, earlier.write.atNs, gone.atNs)
    .flatMap(({ span: { record, end } }) => [
      { atNs: record.atNs, text: record.did, history: record.i },
      ...(end && end.atNs < gone.atNs
        ? [{ atNs: end.atNs, text: `${node}'s clock was set right`, history: end.i }]
        : []),
    ]);
  const before = evidence.lastSample(node, earlier.write.atNs);
  const after = evidence
    .samples(node, earlier.write.atNs, gone.atNs)
    .find(([, sample]) => before !== undefined && sample.skewMs - before[1].skewMs >= movedMs / 2);
  if (after)
    links.push({
      atNs: after[1].atNs,
      text: `${node}'s clock was read ${after[1].skewMs} ms off the machine's`,
      observation: after[0],
    });
  return links.sort((a, b) => a.atNs - b.atNs);
}

function tooShort(contest: Contest, origin: KeyWrite, ttlMs: number): Explanation {
  const { earlier, later, key } = contest;
  const keptFor = `for ${Math.round(ttlMs)} ms only, of a lease of ${earlier.hold.leaseMs} ms`;
  const asked = isAsItWas(origin)
    ? `${earlier.hold.client} left ${key} on ${origin.node} the time that others had given it, ${keptFor}`
    : `${earlier.hold.client} asked ${origin.node} to keep ${key} ${keptFor}`;
  return {
    name: 'lease-too-short',
    sentence: `${asked}; it had expired when ${later.hold.client} was granted it.`,
    chain: [
      grantLink(earlier),
      { atNs: origin.atNs, text: asked, observation: origin.observation },
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ],
  };
}

/** Whether a request stored something beside what was there, and gave it no time: then it lasts as long as that was to. */
function isAsItWas({ before, after }: KeyWrite): boolean {
  const [was, is] = [before?.expires, after?.expires];
  return before?.exists === 'yes' && was?.fromMs === is?.fromMs && was?.untilMs === is?.untilMs;
}

function seconds(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms)} ms`;
}
