/**
 * A client took what was still held, because its script was told by its clock that the lease was over: that clock was ahead, or
 * the holder's was behind when the holder said until when it holds.
 *
 * Example: the key says until when it is held. c2's clock is 20 s fast; its script compares that time with c2's, finds it past,
 * and stores c2 over c1. Or c1's clock was 20 s slow when its script stored that time, and c2's is right.
 *
 * Named where the holder's value was certainly there when the script stored another one over it; a fault had set its client's
 * clock forward for a second at least; one of its arguments is what that clock then showed, by which the time of the key was
 * over; and the holder's own request had been given what its clock showed, and none a time since, from which the lease was not over
 * by then: without that there is no time to compare. Or where a fault had so set the holder's clock back when it was granted, its
 * request was given what that clock showed, and the script that took over what a clock showed that nothing moved, later than that, and
 * than any time that the holder gave since, by more than the key was stored for. By clocks that all were right it must not have been
 * over: else none had to be off for that. The argument counts for what it shows, and not that a
 * clock was off: locks that send no time of day are not meant.
 *
 * Excludes clocks that drifted or went to and fro, servers whose own clock was off, and commands without a script: a SET that
 * asks nothing is `overwritten`, whatever its client had compared before.
 */

import { type ClockMove, clockMovesOf } from '../../harness/record/facts/clock-moves.js';
import type { Times } from '../../harness/record/facts/commands/state.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { type KeyWrite, removes } from '../../harness/record/facts/key-writes.js';
import { durationOfMs } from '../../harness/record/facts/words.js';
import type { Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { type Contest, type Explanation, goneLink, grantLink, leaseLink, type Reason } from './contest.js';
import { moveLink } from './meanwhile.js';

/** Every request that is still on its way when a clock is set has arrived by then. */
const SET_SINCE_NS = 1e9;
/** How long before its request ran a client looked at its clock. */
const LOOKED_WITHIN_MS = 250;

export function takenOverByClock({ observations, history }: CheckInput): Reason {
  return (contest, evidence) => {
    const { earlier, reached, gone, tenure, key } = contest;
    if (gone.client === undefined || gone.client === earlier.hold.client || !gone.script) return undefined;
    if (!tenure.held || removes(gone, reached?.value) !== 'yes') return undefined;
    // Its stamp is the machine's time only where its clock was right.
    if (!evidence.isPlaced(gone)) return undefined;
    const clocks = { observations };
    const takers = settingOf(gone.client, gone, evidence);
    const toldMs = takers && timeGiven(gone, takers, clocks);
    if (toldMs === undefined) return undefined;
    const over = `and by which ${earlier.hold.client}'s lease was over; ${earlier.hold.client}'s value was still there.`;
    const { hold, write } = earlier;
    const holders = settingOf(hold.client, write, evidence, history.event(hold.evidence[0]!)!.atNs);
    const storedMs = holders && timeGiven(write, holders, clocks);
    // What told no time left none behind: the script found one of before, or none.
    if (storedMs === undefined) return undefined;
    const { endMs, rightEndMs } = endOf(storedMs, holders!, contest, evidence, clocks);
    if (toldMs <= endMs) return undefined;
    // Then no clock had to be off for that: say a renewal gave no time of day, and the script goes by the grant's.
    if (toldMs - takers!.offsetMs > rightEndMs) return undefined;
    if (takers!.move) {
      if (takers!.offsetMs < 0 || toldMs <= gone.before!.expires.untilMs) return undefined;
      const took = `${gone.client} took ${key} over by its own clock (${gone.command}), which was ${durationOfMs(takers!.offsetMs)} ahead`;
      return explained(`${took} ${over}`, took, moveLink(takers!.move), contest);
    }
    if (!holders!.move || holders!.offsetMs >= 0) return undefined;
    const took = `${gone.client} took ${key} over by its clock (${gone.command}): ${hold.client}'s had been ${durationOfMs(-holders!.offsetMs)} behind when it was granted`;
    return explained(`${took}, ${over}`, took, moveLink(holders!.move), contest);
  };
}

function explained(sentence: string, took: string, set: CauseLink, contest: Contest): Explanation {
  const { earlier, later, gone } = contest;
  const chain = [
    grantLink(earlier),
    set,
    { atNs: gone.atNs, text: took, observation: gone.observation },
    ...goneLink(contest),
    grantLink(later),
    leaseLink(earlier),
  ];
  return { name: 'taken-over-by-clock', sentence, chain: chain.sort((a, b) => a.atNs - b.atNs) };
}

/** By how much a client's clock was off when its request ran, and by what; undefined where that is not certain. */
interface Setting {
  offsetMs: number;
  move?: ClockMove;
}

/** `askedNs`: when its client was told to ask for that, if it is known. */
function settingOf(
  client: string,
  request: KeyWrite,
  { effects }: Evidence,
  askedNs = Number.NEGATIVE_INFINITY,
): Setting | undefined {
  const moves = clockMovesOf(effects, client).filter(({ span }) => span.earliestNs <= request.ranNs);
  const [move, ...others] = moves.filter(({ span }) => span.latestNs >= request.ranNs - SET_SINCE_NS);
  if (!move) return { offsetMs: 0 };
  if (others.length > 0 || move.ratePpm !== 0 || move.strobes || !wasSet(move.span, request, askedNs)) return undefined;
  return { offsetMs: move.offsetMs, move };
}

/** The time of day that a request was given, if it is what its client's clock showed. */
function timeGiven(
  { observation, serverWallMs }: KeyWrite,
  { offsetMs }: Setting,
  { observations }: { observations: Observations },
): number | undefined {
  const request = observations.line(observation);
  return request?.type === 'command' ? timeIn(request.argv, serverWallMs + offsetMs) : undefined;
}

/**
 * When the lease was over by the times that the holder's requests for the key were given: by the latest since, be it of a clock that
 * was set right, for it asks for more time. `rightEndMs`: when by a right clock.
 */
function endOf(
  storedMs: number,
  { offsetMs }: Setting,
  { earlier: { hold, write }, gone, key }: Contest,
  evidence: Evidence,
  { observations }: { observations: Observations },
): { endMs: number; rightEndMs: number } {
  const { leaseMs } = hold;
  const since = [...new Set([write.node, gone.node])].flatMap((node) =>
    evidence.writes(node, key).filter(({ client, observation }) => {
      return client === hold.client && observation > write.observation && observation < gone.observation;
    }),
  );
  const given = since.flatMap(({ observation, serverWallMs, ttlMs = 0 }) => {
    const request = observations.line(observation);
    const bounds = { fromMs: storedMs, untilMs: serverWallMs + Math.max(0, offsetMs) + LOOKED_WITHIN_MS };
    const times = request?.type === 'command' ? timesIn(request.argv, bounds) : [];
    // It may have asked for more than a lease.
    const lastsMs = Math.max(leaseMs, ttlMs);
    return times.map((ms) => ({ endMs: ms + lastsMs, rightEndMs: serverWallMs + lastsMs }));
  });
  const all = [{ endMs: storedMs + leaseMs, rightEndMs: storedMs - offsetMs + leaseMs }, ...given];
  return {
    endMs: Math.max(...all.map((one) => one.endMs)),
    rightEndMs: Math.max(...all.map((one) => one.rightEndMs)),
  };
}

/** Whether the clock had certainly been set when its client could first look at it for a request, and was not set right by then. */
function wasSet({ fromNs, untilNs }: EffectSpan, { ranNs }: KeyWrite, askedNs: number): boolean {
  return fromNs <= Math.max(askedNs, ranNs - SET_SINCE_NS) && untilNs >= ranNs;
}

/** The time of day that a request was given, milliseconds since 1970, if it is what a clock showed then. */
function timeIn(argv: readonly string[], shownMs: number): number | undefined {
  return timesIn(argv, { fromMs: shownMs - LOOKED_WITHIN_MS, untilMs: shownMs + LOOKED_WITHIN_MS })[0];
}

function timesIn(argv: readonly string[], { fromMs, untilMs }: Times): number[] {
  return argv
    .filter((word) => /^\d{10,16}(\.\d+)?$/.test(word))
    .flatMap((word) => [1e3, 1, 1e-3].map((unit) => Number(word) * unit))
    .filter((ms) => ms <= untilMs && ms >= fromMs);
}
