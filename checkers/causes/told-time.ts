/**
 * Whether a request may have gone by a clock that was off when it took a holder for one whose lease was over.
 *
 * Example: a hash says until when each one holds, by the time of day that its client sent. c2's clock is 20 s fast; its script
 * compares that with what c2 sends, takes c1's lease for over, and stores c2 beside c1. Neither did c2 know of a holder, nor did its
 * script let anybody in beside one.
 *
 * Counts the clocks of the two clients, and of the server, where one of the requests was given a time of day: without that, both
 * times are the server's own, of which only what it gained in between matters. A clock that drifts or goes to and fro may have been
 * anywhere.
 */
import { clockMovesOf } from '../../harness/record/facts/clock-moves.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import type { Contest } from './contest.js';
import { READING_MS } from './meanwhile.js';

/** A time of day that was sent by then was looked at no longer before. */
const SENT_WITHIN_NS = 1e9;

/** Whether a word is a time of day: seconds, milliseconds or microseconds since 1970. */
export function isTimeOfDay(word: string): boolean {
  return /^\d{10,16}(\.\d+)?$/.test(word);
}

/** `by`: the request that took the holder out, or let another one in. */
export function mayGoByWrongClock({ earlier, key }: Contest, by: KeyWrite, evidence: Evidence): boolean {
  const { hold, write } = earlier;
  const own = evidence
    .writes(write.node, key)
    .filter((one) => one.client === hold.client && one.observation >= write.observation && one.ranNs <= by.ranNs);
  if (![...own, by].some((one) => evidence.argvOf(one)?.some(isTimeOfDay))) return false;
  const ahead = Math.max(evidence.skewAt(by), offBy(by, 1, evidence));
  const behind = own.map((one) => Math.max(-evidence.skewAt(one), offBy(one, -1, evidence)));
  const misledMs = Math.max(0, ahead) + Math.max(0, ...behind);
  return misledMs > READING_MS && misledMs >= (hold.leaseEndNs - by.ranNs) / 1e6 - READING_MS;
}

/** By how much faults had set the clock of a request's client off in one direction when it was sent, milliseconds. */
function offBy({ client, ranNs }: KeyWrite, direction: 1 | -1, { effects }: Evidence): number {
  if (client === undefined) return 0;
  return clockMovesOf(effects, client)
    .filter(({ span }) => span.earliestNs <= ranNs && span.latestNs >= ranNs - SENT_WITHIN_NS)
    .reduce((sumMs, { offsetMs, ratePpm, strobes }) => {
      return sumMs + (ratePpm !== 0 || strobes ? Number.POSITIVE_INFINITY : Math.max(0, direction * offsetMs));
    }, 0);
}
