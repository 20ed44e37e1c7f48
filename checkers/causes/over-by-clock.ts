/**
 * What a server ended before its lease was over, because its clock had been set or ran fast: rows whose expiry it tells by that clock,
 * and sessions whose silence it measures by it.
 *
 * Of a row the server's own record says for how long it was to be kept, and that by the server's clock this was over when another took
 * it; by the harness' clock less time had passed than that. Of a session its client says that the server ended it for its silence,
 * though it had been heard within half its time-out. Both need faults that moved the clock of that very server meanwhile by as much.
 *
 * Excludes leases that were prolonged meanwhile (nothing tells for how long the row was to be kept then) and clocks that went to and fro.
 */
import { type ClockMove, clockMovesOf, gainedBetween, mayMoveBetween } from '../../harness/record/facts/clock-moves.js';
import { effectsOf } from '../../harness/record/facts/effects.js';
import { leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import type { ServiceRecord, StoredEntry } from '../../harness/record/facts/service-record.js';
import { duration } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { CauseLink, Hold } from '../../harness/vocabulary/verdict.js';

/** Clocks are read to some milliseconds. */
const READING_MS = 20;
/** PostgreSQL's word to a client whose session it ends by `idle_session_timeout` (57P05). */
const ENDED_FOR_SILENCE = /idle-session timeout/;

/** By how much a clock was ahead, the name of the cause, and what shows it. */
interface ByClock {
  name: 'clock-jumped' | 'clock-ran-fast';
  sentence: string;
  links: CauseLink[];
}

/**
 * `after`: what came right after the hold's own entry in its log, and had come by `takenNs`: it may be told of late. Undefined: nothing
 * proves that it was the clock.
 */
export function overByClock(
  hold: Hold,
  entry: StoredEntry,
  after: StoredEntry,
  takenNs: number,
  record: ServiceRecord,
  input: CheckInput,
): ByClock | undefined {
  return entry.isSampled
    ? sessionOver(hold, entry, takenNs, input)
    : rowOver(hold, entry, after, takenNs, record, input);
}

function rowOver(
  hold: Hold,
  entry: StoredEntry,
  after: StoredEntry,
  takenNs: number,
  record: ServiceRecord,
  input: CheckInput,
): ByClock | undefined {
  const { keptMs } = entry;
  const { leftMs } = after;
  if (keptMs === undefined || leftMs === undefined || leftMs > 0 || wasProlonged(hold, after.atNs, input))
    return undefined;
  if (after.client === undefined || after.client === hold.client) return undefined;
  const node = record.primaryThroughout(entry.atNs, after.atNs);
  // No more than this had passed by a clock that nobody set.
  const passedMs = (takenNs - hold.grantSentNs) / 1e6;
  if (node === undefined || passedMs > keptMs - READING_MS) return undefined;
  const aheadMs = keptMs - leftMs - passedMs;
  // By then it was stored, for so long by what the clock showed: what moved that before counts for nothing.
  const storedNs = Math.min(entry.atNs, hold.fromNs);
  // The row was over by what the clock showed when it was taken, and not by what it had shown before.
  const moved = movedBy(aheadMs, node, storedNs, takenNs, input, isAheadStill);
  return (
    moved && {
      ...moved,
      sentence: `By ${node}'s clock what it had stored for ${hold.client} under ${hold.key}, for ${duration(keptMs * 1e6)}, was over when ${after.client} took it ${duration(passedMs * 1e6)} later: that clock had been moved by ${duration(aheadMs * 1e6)} at least.`,
    }
  );
}

function sessionOver(hold: Hold, { node }: StoredEntry, takenNs: number, input: CheckInput): ByClock | undefined {
  if (leaseKindOf(input.history) !== 'session') return undefined;
  const lost = hold.evidence.map((line) => input.history.event(line)).find((event) => event?.type === 'lost');
  if (lost?.type !== 'lost' || !ENDED_FOR_SILENCE.test(lost.reason ?? '')) return undefined;
  const heardNs = hold.leaseEndNs - hold.leaseMs * 1e6;
  const earlyMs = (hold.leaseEndNs - lost.clientNs) / 1e6;
  if (earlyMs < hold.leaseMs / 2) return undefined;
  // Its client may have heard of it late: when another had it the session was over.
  const moved = movedBy(earlyMs, node, heardNs, Math.min(lost.clientNs, takenNs), input);
  return (
    moved && {
      ...moved,
      sentence: `${node} ended the session by which ${hold.client} held ${hold.key} for its silence, ${duration(earlyMs * 1e6)} before that was due: its clock, by which it measures that, had been moved meanwhile.`,
      links: [
        ...moved.links,
        { atNs: lost.clientNs, text: `${hold.client} says that ${node} ended it: ${lost.reason}`, history: lost.i },
      ],
    }
  );
}

/** Whether faults moved the clock forward by as much, and all in one way. */
function movedBy(
  aheadMs: number,
  node: string,
  fromNs: number,
  untilNs: number,
  { history }: CheckInput,
  counts: (move: ClockMove, untilNs: number) => boolean = () => true,
): Omit<ByClock, 'sentence'> | undefined {
  const moves = clockMovesOf(effectsOf(history), node).filter((move) => mayMoveBetween(move, fromNs, untilNs));
  if (moves.some(({ strobes }) => strobes)) return undefined;
  const gaining = moves.filter((move) => gainedBetween(move, fromNs, untilNs) > 0 && counts(move, untilNs));
  const gainedMs = gaining.reduce((sumMs, move) => sumMs + gainedBetween(move, fromNs, untilNs), 0);
  if (gaining.length === 0 || gainedMs < aheadMs - READING_MS) return undefined;
  const jumps = gaining.filter(({ ratePpm }) => ratePpm === 0).length;
  if (jumps > 0 && jumps < gaining.length) return undefined;
  return {
    name: jumps > 0 ? 'clock-jumped' : 'clock-ran-fast',
    links: gaining.flatMap((move) => linksOf(move, node, untilNs)),
  };
}

/** Whether what made a clock gain had not been set right by then: one that had been set back gains by just that. */
function isAheadStill({ offsetMs, span }: ClockMove, untilNs: number): boolean {
  return offsetMs < 0 || span.untilNs >= untilNs;
}

function linksOf({ span: { record, end } }: ClockMove, node: string, untilNs: number): CauseLink[] {
  const healed = end && end.atNs < untilNs;
  return [
    { atNs: record.atNs, text: record.did, history: record.i },
    ...(healed ? [{ atNs: end.atNs, text: `${node}'s clock was set right`, history: end.i }] : []),
  ];
}

/** Whether it may have been asked to keep it for longer, or for less, than it said at first. */
function wasProlonged({ evidence }: Hold, byNs: number, { history }: CheckInput): boolean {
  return evidence
    .map((line) => history.event(line))
    .some(
      (event) => event?.type === 'renewed' || (event?.type === 'invoke' && event.op === 'extend' && event.atNs < byNs),
    );
}
