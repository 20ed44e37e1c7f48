/**
 * Finds every pair of holds in which two clients held one key at once, and of which class it is. Exact on the holds that
 * it is given; decides nothing about causes, clocks or doubts.
 *
 * Cost: O(n log n) for n holds, plus the number of pairs whose holds overlap at all.
 */
import assert from 'node:assert/strict';
import type { Hold } from '../harness/api.js';
import { leaseMarginNs } from './margin.js';

interface Pair {
  /** The one whose grant reached its client first. */
  first: Hold;
  second: Hold;
  /** When it became true, and when it stopped to be. */
  fromNs: number;
  untilNs: number;
}

/**
 * - `exclusion`: both leases certainly ran during [fromNs, untilNs);
 * - `stale`: they overlapped only because `stale` acted on after its lease had ended, as it did during [fromNs, untilNs).
 */
export type Overlap = Pair & ({ class: 'exclusion' } | { class: 'stale'; stale: Hold });

/** All overlapping pairs, earliest first by the instant at which each became true. */
export function overlapsOf(holds: readonly Hold[]): Overlap[] {
  const byKey = new Map<string, Hold[]>();
  for (const hold of holds) {
    if (hold.untilNs <= hold.fromNs) continue; // proves nothing
    const ofKey = byKey.get(hold.key);
    if (ofKey) ofKey.push(hold);
    else byKey.set(hold.key, [hold]);
  }
  const overlaps: Overlap[] = [];
  for (const ofKey of byKey.values()) sweep(ofKey, overlaps);
  return overlaps.sort(
    (a, b) => a.fromNs - b.fromNs || a.untilNs - b.untilNs || a.second.evidence[0]! - b.second.evidence[0]!,
  );
}

/** Meets holds in the order in which they began; those that have not ended by then overlap the new one. */
function sweep(holds: Hold[], found: Overlap[]): void {
  holds.sort((a, b) => a.fromNs - b.fromNs || a.untilNs - b.untilNs || a.evidence[0]! - b.evidence[0]!);
  let running: Hold[] = [];
  for (const second of holds) {
    // Equal stamps do not overlap: one may have ended just before the other began.
    running = running.filter((hold) => hold.untilNs > second.fromNs);
    for (const first of running) {
      assert(
        first.client !== second.client,
        `bug in the harness: ${first.client} was led to hold ${first.key} twice at once (acquires ${first.id} and ${second.id})`,
      );
      const overlap = classify(first, second);
      if (overlap) found.push(overlap);
    }
    running.push(second);
  }
}

/** Of which class an overlap of two holds is; undefined where it is too short to accuse anybody. `first` began first. */
function classify(first: Hold, second: Hold): Overlap | undefined {
  const fromNs = second.fromNs;
  const untilNs = Math.min(first.untilNs, second.untilNs);
  const leasedUntilNs = Math.min(untilNs, certainLeaseEndNs(first), certainLeaseEndNs(second));
  if (fromNs < leasedUntilNs) return { class: 'exclusion', first, second, fromNs, untilNs: leasedUntilNs };

  // Not longer than the margin: first may have ended its hold in time, and second been granted a little early by the
  // server's reckoning (see margin.ts). Neither did wrong. Longer: someone certainly acted after the end of a lease.
  if (untilNs - fromNs <= Math.max(leaseMarginNs(first.leaseMs), leaseMarginNs(second.leaseMs))) return undefined;
  const stale = first.leaseEndNs <= second.leaseEndNs ? first : second;
  return { class: 'stale', stale, first, second, fromNs: Math.max(fromNs, stale.leaseEndNs), untilNs };
}

/** Until when no server can have thought the lease over. */
function certainLeaseEndNs(hold: Hold): number {
  return hold.leaseEndNs - leaseMarginNs(hold.leaseMs);
}
