/**
 * May a waiter have lost its place in the queue before another was granted the lock, by what its lock declared?
 *
 * A lock whose places end by a deadline may pass over a client that did not show itself for so long, and over no other. How
 * long it was silent is what the server saw: the longest time between two of its commands on the key, by the server's own
 * clock, the last of them ending with the next command of the client that overtook it. What was not seen counts as silence, and
 * no silence is longer than the wait. Faults and steps of clocks that the deadline may be counted by come on top.
 *
 * Example: c1 is queued at 1.0 s; its place lives for 1 s. Everything is stopped from 1.1 s to 2.3 s, c1 a little longer. c2
 * asks at 2.4 s and is granted the lock: the server has dropped c1, as it declared. Had c1 shown itself at 1.9 s, the lock
 * would be accused however long its machine stood still.
 *
 * - Silence that is shorter than the deadline excuses nothing.
 * - Silence that would have been shorter but for faults on the client or a server excuses: the lock could do no other.
 * - Any other is "cannot tell", with a harness that stood still or a stepped clock as the reason where there was one. A busy
 *   machine keeps clients from running and leaves no trace, and so does a lock whose waiters come back too rarely.
 *
 * Where a lock does not declare when places end, any fault on the client excuses, and any stall or step is "cannot tell".
 */

import { clientNames, othersThan } from '../../harness/record/facts/clients.js';
import { clockMovesOf, gainedBetween } from '../../harness/record/facts/clock-moves.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { effectsOf, type Footprint } from '../../harness/record/facts/effects.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { duration, durationOfMs } from '../../harness/record/facts/words.js';
import type { CommandObservation, History, Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import { Doubts } from '../worth/doubts.js';

/** Longer than this the observer does not lag behind a server. */
const READ_LATE_NS = 2e9;
const CLOCK_EFFECTS = ['clock-jumped', 'clock-drifts', 'clock-strobes'] as const;

/** A client that was queued, and was overtaken. */
export interface Wait {
  client: string;
  key: string;
  leaseMs: number;
  /** When it began to ask, was certainly queued, and was granted the lock. */
  callNs: number;
  queuedNs: number;
  untilNs: number;
  /** Who overtook it, and when that one had the lock. */
  by: string;
  overtakenNs: number;
}

/** Why the lock is not to blame, or why that is open; undefined: it is. */
export type LostPlace = { excused: true } | { doubt: string } | undefined;

export function lostPlaces(input: CheckInput): (wait: Wait) => LostPlace {
  const { history, observations } = input;
  const doubts = new Doubts(input);
  const footprints = effectsOf(history).footprints();

  return (wait) => {
    const { client, callNs, queuedNs, overtakenNs } = wait;
    const placeMs = deadlineMs(history, 'place', wait.leaseMs);
    const others = othersThan(history, client);
    if (placeMs === undefined) {
      const own = ({ names }: Footprint) => [...names].some((name) => clientNames(history, client).has(name));
      if (footprints.some((one) => own(one) && overlapNs(one, queuedNs, wait.untilNs) >= 0)) return { excused: true };
      const doubt = doubts.aboutOrder(queuedNs, overtakenNs);
      return doubt === undefined ? undefined : { doubt };
    }
    if (placeMs === Number.POSITIVE_INFINITY) return undefined;

    const livesNs = placeMs * 1e6 - leaseMarginNs(placeMs);
    const movedNs = clocksMovedMs(history, callNs, overtakenNs) * 1e6;
    const steppedNs = doubts.steppedMs(callNs, overtakenNs) * 1e6;
    const seenNs = longestSilenceNs(wait, observations, movedNs + steppedNs === 0);
    // A silence is no longer than the wait; what was not seen may have been one.
    const silentNs = Math.min(seenNs ?? Number.POSITIVE_INFINITY, overtakenNs - callNs);
    if (silentNs + movedNs + steppedNs < livesNs) return undefined;
    const keptNs = footprints
      .filter(
        (one) => keepsFromActing(one) && (one.names.size === 0 || ![...one.names].every((name) => others.has(name))),
      )
      .reduce((sum, one) => sum + Math.max(0, overlapNs(one, queuedNs, overtakenNs)), 0);
    if (silentNs + movedNs >= livesNs && silentNs - keptNs < livesNs) return { excused: true };
    const why = doubts.aboutOrder(callNs, overtakenNs) ?? 'nothing that was recorded kept it from it';
    const silence =
      seenNs === undefined
        ? `it is not known whether ${client} showed itself in ${duration(silentNs)}`
        : `${client} did not show itself for ${duration(silentNs)}`;
    return { doubt: `${silence}, a place lives for ${durationOfMs(placeMs)}, and ${why}` };
  };
}

/** How long both lasted at once; negative: they did not. */
function overlapNs({ earliestNs, latestNs }: Footprint, fromNs: number, untilNs: number): number {
  return Math.min(latestNs, untilNs) - Math.max(earliestNs, fromNs);
}

/** A clock that was moved stops no command. */
function keepsFromActing({ effects }: Footprint): boolean {
  return effects.length === 0 || effects.some(({ kind }) => !kind.startsWith('clock-'));
}

/**
 * The longest time for which the server that granted the lock to who overtook it heard nothing of the waiter: from the command
 * that queued it to the first command of the other that was read when that one had the lock. Its grant was none later.
 * Undefined: not seen.
 */
function longestSilenceNs(wait: Wait, observations: Observations, steady: boolean): number | undefined {
  const { client, key, by, callNs, overtakenNs, untilNs } = wait;
  const commands = [...observations.commands(callNs, untilNs + READ_LATE_NS)].map(([, command]) => command);
  const isOf = (who: string) => (command: CommandObservation) => command.client === who && command.argv.includes(key);
  const end = commands.find((command) => isOf(by)(command) && command.atNs > overtakenNs);
  if (!end) return undefined;
  const onNode = commands.slice(0, commands.indexOf(end) + 1).filter(({ node }) => node === end.node);
  const all = onNode.filter(isOf(client));
  const heard = steady ? sinceQueued(wait, all, onNode) : all;
  if (heard.length === 0) return undefined;
  const silences = heard.map(({ serverWallMs }, n) => (heard[n + 1] ?? end).serverWallMs - serverWallMs);
  return Math.max(...silences) * 1e6;
}

/**
 * Without those that came before the command that queued it. A command ran before it was read; and as a server's stamps tell
 * how far apart two commands ran, all ran as long before theirs as the one that was read with the least delay, or longer.
 */
function sinceQueued(
  { queuedNs }: Wait,
  heard: readonly CommandObservation[],
  onNode: readonly CommandObservation[],
): readonly CommandObservation[] {
  const aheadMs = onNode.reduce(
    (least, { atNs, serverWallMs }) => Math.min(least, atNs / 1e6 - serverWallMs),
    Infinity,
  );
  const queuedAt = heard.findLastIndex(({ serverWallMs }) => (serverWallMs + aheadMs) * 1e6 <= queuedNs);
  return heard.slice(Math.max(0, queuedAt));
}

/** How far the clocks by which places may be counted can have come apart or ahead meanwhile, by faults. */
function clocksMovedMs(history: History, fromNs: number, untilNs: number): number {
  const clients = new Set(history.rare.flatMap((event) => (event.type === 'client-up' ? [event.host] : [])));
  const effects = effectsOf(history);
  const names = new Set(CLOCK_EFFECTS.flatMap((kind) => effects.spans(kind).flatMap(({ effect }) => effect.who)));
  let movedMs = 0;
  for (const name of names) {
    for (const move of clockMovesOf(effects, name)) {
      if (move.span.earliestNs > untilNs || move.span.latestNs < fromNs) continue;
      const aheadMs = Math.abs(gainedBetween(move, fromNs, untilNs));
      // A server counts by its own clock; clients that count, by clocks that may be wrong all the time.
      movedMs += clients.has(name) ? Math.max(Math.abs(move.offsetMs), aheadMs) : aheadMs;
    }
  }
  return movedMs;
}
