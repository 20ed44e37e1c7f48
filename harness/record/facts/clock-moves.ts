/**
 * What faults did to a node's clock, from their effects: jumps, drifts, and clocks that jump to and fro. All that was read
 * back is that the fault was in force from its record to its heal, and what it does meanwhile.
 */
import type { EffectSpan, Effects } from './effects.js';
import type { ClockReading } from './key-writes.js';

/** One thing that a fault did to a node's clock. */
export interface ClockMove {
  span: EffectSpan;
  offsetMs: number;
  /** 0: it jumped. */
  ratePpm: number;
  /** From one end to the other and back, again and again: at any moment it may have been at either. */
  strobes: boolean;
}

/** A move by which a clock may have gained so much. */
export interface ClockGain extends ClockMove {
  gainedMs: number;
}

/** Everything that faults did to the clock of `node`. */
export function clockMovesOf(effects: Effects, node: string): ClockMove[] {
  const moves: ClockMove[] = [
    ...effects.on('clock-jumped', node).map((span) => ({
      span,
      offsetMs: span.effect.offsetMs,
      ratePpm: 0,
      strobes: false,
    })),
    ...effects.on('clock-drifts', node).map((span) => ({
      span,
      offsetMs: span.effect.gainedMs,
      ratePpm: span.effect.ratePpm,
      strobes: false,
    })),
    ...effects.on('clock-strobes', node).map((span) => ({
      span,
      offsetMs: span.effect.offsetMs,
      ratePpm: 0,
      strobes: true,
    })),
  ];
  return moves.sort((a, b) => a.span.fromNs - b.span.fromNs);
}

/**
 * How far the clock may have come, at some moment between the two instants, ahead of where it was at the first of them. A
 * jump back that is healed meanwhile is a gain; one that was made before and lasts is none.
 */
export function gainedBetween(move: ClockMove, fromNs: number, untilNs: number): number {
  const { span } = move;
  const beganNs = beganOf(move);
  if (beganNs >= untilNs || span.latestNs <= fromNs) return 0;
  if (move.strobes) return Math.abs(move.offsetMs);
  const lastNs = Math.min(untilNs, span.latestNs);
  const at = (atNs: number) => (move.ratePpm === 0 ? move.offsetMs : (move.ratePpm * (atNs - beganNs)) / 1e12);
  const before = fromNs >= beganNs ? at(fromNs) : 0;
  const healed = span.untilNs < untilNs ? 0 : Number.NEGATIVE_INFINITY;
  return Math.max(at(lastNs), healed) - before;
}

/** Whether it may have moved the clock between the two instants: one that jumped before, and stays where it is, stands still. */
export function mayMoveBetween({ span, ratePpm, strobes }: ClockMove, fromNs: number, untilNs: number): boolean {
  if (span.earliestNs > untilNs || span.latestNs < fromNs) return false;
  return ratePpm !== 0 || strobes || span.fromNs >= fromNs || span.untilNs <= untilNs;
}

/**
 * Moments at which a key may have expired by the clock though no command tells: when it jumped, and just before it was set
 * right.
 */
export function aheadAtMost(move: ClockMove): ClockReading[] {
  const { span, offsetMs } = move;
  const { fromNs, latestNs } = span;
  const beganNs = beganOf(move);
  const readings = [{ atNs: fromNs, aheadMs: offsetMs }];
  if (span.end) readings.push({ atNs: latestNs, aheadMs: gainedBetween(move, beganNs - 1, latestNs) });
  return readings;
}

/** A clock that goes to and fro may have been at its far end just before any command. */
export function strobeAt({ span, offsetMs, strobes }: ClockMove, atNs: number): ClockReading | undefined {
  const during = strobes && atNs >= span.fromNs && atNs <= span.latestNs;
  return during ? { atNs, aheadMs: Math.abs(offsetMs) } : undefined;
}

/** A drift is recorded when it has gained so much that it could be read. */
function beganOf({ span: { fromNs }, offsetMs, ratePpm }: ClockMove): number {
  return ratePpm === 0 ? fromNs : fromNs - (offsetMs / ratePpm) * 1e12;
}
