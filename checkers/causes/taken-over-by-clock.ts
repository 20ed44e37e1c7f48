/**
 * A client whose clock was ahead took what was still held, because its script was told by that clock that the lease was over.
 *
 * Example: the key says until when it is held. c2's clock is 20 s fast; its script compares that time with c2's, finds it past,
 * and stores c2 over c1.
 *
 * Named where the holder's value was certainly there when the script stored another one over it; a fault had set its client's
 * clock forward for a second at least; and one of its arguments is what that clock then showed, by which the time of the key
 * was over. The argument counts for what it shows, and not that a clock was off: locks that send no time of day are not meant.
 *
 * Excludes clocks that drifted or went to and fro, servers whose own clock was off, and commands without a script: a SET that
 * asks nothing is `overwritten`, whatever its client had compared before.
 */

import { clockMovesOf } from '../../harness/record/facts/clock-moves.js';
import type { EffectSpan } from '../../harness/record/facts/effects.js';
import { type KeyWrite, removes } from '../../harness/record/facts/key-writes.js';
import { durationOfMs } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { goneLink, grantLink, leaseLink, type Reason } from './contest.js';

/** Every request that is still on its way when a clock is set has arrived by then. */
const SET_SINCE_NS = 1e9;
/** How long before its request ran a client looked at its clock. */
const LOOKED_WITHIN_MS = 250;

export function takenOverByClock({ observations }: CheckInput): Reason {
  return (contest, evidence) => {
    const { earlier, later, reached, gone, tenure, key } = contest;
    if (gone.client === undefined || gone.client === earlier.hold.client || !gone.script) return undefined;
    if (!reached || !tenure.held || tenure.losses.length > 0 || removes(gone, reached.value) !== 'yes')
      return undefined;
    // Its stamp is the machine's time only where its clock was right.
    if (!evidence.isPlaced(gone)) return undefined;
    const moves = clockMovesOf(evidence.effects, gone.client).filter(({ span }) => span.earliestNs <= gone.ranNs);
    const [move, ...others] = moves.filter(({ span }) => span.latestNs >= gone.ranNs - SET_SINCE_NS);
    if (!move || others.length > 0 || move.ratePpm !== 0 || move.strobes || !wasSet(move.span, gone)) return undefined;
    const request = observations.line(gone.observation);
    const shownMs = gone.serverWallMs + move.offsetMs;
    const toldMs = request?.type === 'command' ? timeIn(request.argv, shownMs) : undefined;
    if (toldMs === undefined || toldMs <= gone.before!.expires.untilMs) return undefined;
    const took = `${gone.client} took ${key} over by its own clock (${gone.command}), which was ${durationOfMs(move.offsetMs)} ahead`;
    return {
      name: 'taken-over-by-clock',
      sentence: `${took} and by which ${earlier.hold.client}'s lease was over; ${earlier.hold.client}'s value was still there.`,
      chain: [
        grantLink(earlier),
        { atNs: move.span.record.atNs, text: move.span.record.did, history: move.span.record.i },
        { atNs: gone.atNs, text: took, observation: gone.observation },
        ...goneLink(contest),
        grantLink(later),
        leaseLink(earlier),
      ],
    };
  };
}

/** Whether the clock had certainly been set for long when a request ran, and was not set right by then. */
function wasSet({ fromNs, untilNs }: EffectSpan, { ranNs }: KeyWrite): boolean {
  return fromNs <= ranNs - SET_SINCE_NS && untilNs >= ranNs;
}

/** The time of day that a request was given, milliseconds since 1970, if it is what a clock showed then. */
function timeIn(argv: readonly string[], shownMs: number): number | undefined {
  return argv
    .filter((word) => /^\d{10,16}(\.\d+)?$/.test(word))
    .flatMap((word) => [1e3, 1, 1e-3].map((unit) => Number(word) * unit))
    .find((ms) => ms <= shownMs + LOOKED_WITHIN_MS && ms >= shownMs - LOOKED_WITHIN_MS);
}
