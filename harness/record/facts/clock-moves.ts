/**
 * What clock faults did to a node's clock, from their records: jumps (`offsetMs`), drifts (`ratePpm`, with `offsetMs` what
 * had been gained when it was recorded), and clocks that jump to and fro (`strobe`). All that was read back is that the
 * fault was in force from its record to its heal, and what it does meanwhile.
 */
import type { FaultEvent, FaultInForce } from './faults.js';
import type { ClockReading, KeyWrite } from './key-writes.js';

/** One record of a fault that moves a node's clock. */
export interface ClockMove {
  record: FaultEvent;
  heal: FaultEvent | undefined;
  offsetMs: number;
  /** 0: it jumped. */
  ratePpm: number;
  /** From one end to the other and back, again and again: at any moment it may have been at either. */
  strobes: boolean;
  untilNs: number;
}

/** A move by which a clock may have gained so much. */
export interface ClockGain extends ClockMove {
  gainedMs: number;
}

/** Everything that faults did to the clock of `node`. */
export function clockMovesOf(faults: readonly FaultInForce[], node: string): ClockMove[] {
  return faults.flatMap(({ fault, records, untilNs }) => {
    const heal = records.find(({ state }) => state === 'heal');
    return records.flatMap((record): ClockMove[] => {
      const { state, targets, offsetMs, ratePpm } = record;
      const struck = (state === 'strike' || state === 'phase') && targets.includes(node);
      if (!struck || (offsetMs === undefined && ratePpm === undefined)) return [];
      const strobes = fault === 'strobe';
      return [{ record, heal, offsetMs: offsetMs ?? 0, ratePpm: ratePpm ?? 0, strobes, untilNs }];
    });
  });
}

/**
 * How far the clock may have come, at some moment between the two instants, ahead of where it was at the first of them. A
 * jump back that is healed meanwhile is a gain; one that was made before and lasts is none.
 */
export function gainedBetween(move: ClockMove, fromNs: number, untilNs: number): number {
  const beganNs = beganOf(move);
  if (beganNs >= untilNs || move.untilNs <= fromNs) return 0;
  if (move.strobes) return Math.abs(move.offsetMs);
  const lastNs = Math.min(untilNs, move.untilNs);
  const at = (atNs: number) => (move.ratePpm === 0 ? move.offsetMs : (move.ratePpm * (atNs - beganNs)) / 1e12);
  const before = fromNs >= beganNs ? at(fromNs) : 0;
  const healed = move.untilNs < untilNs ? 0 : Number.NEGATIVE_INFINITY;
  return Math.max(at(lastNs), healed) - before;
}

/**
 * Moments at which a key may have expired by the clock though nobody was there to see it, for following what a node did: when
 * it jumped, just before it was set right, and for a clock that goes to and fro before every command.
 */
export function aheadAtMost(move: ClockMove, writes: readonly KeyWrite[]): ClockReading[] {
  const { record, heal, offsetMs, strobes, untilNs } = move;
  const beganNs = beganOf(move);
  const readings = [{ atNs: record.atNs, aheadMs: offsetMs }];
  if (heal) readings.push({ atNs: heal.atNs, aheadMs: gainedBetween(move, beganNs - 1, heal.atNs) });
  if (!strobes) return readings;
  const during = writes.filter(({ atNs }) => atNs >= record.atNs && atNs <= untilNs);
  return [...readings, ...during.map(({ atNs }) => ({ atNs, aheadMs: Math.abs(offsetMs) }))];
}

/** A drift is recorded when it has gained so much that it could be read. */
function beganOf({ record, offsetMs, ratePpm }: ClockMove): number {
  return ratePpm === 0 ? record.atNs : record.atNs - (offsetMs / ratePpm) * 1e12;
}
