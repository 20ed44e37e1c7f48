import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leaseMarginNs } from '../../../checkers/margin.js';
import { overlapsOf } from '../../../checkers/overlaps.js';
import type { Hold } from '../../../harness/api.js';

const UNIT_NS = 1e6;

/** Holds of a few clients on two keys in units of 1 ms, close enough together for every rule to be met at its edge. */
const holdsArbitrary = fc
  .array(
    fc.record({
      client: fc.integer({ min: 1, max: 5 }),
      key: fc.integer({ min: 0, max: 1 }),
      from: fc.integer({ min: 0, max: 40 }),
      long: fc.integer({ min: 0, max: 25 }),
      leaseFrom: fc.integer({ min: -30, max: 3 }),
      leaseMs: fc.integer({ min: 1, max: 30 }),
      halves: fc.integer({ min: 0, max: 1 }),
    }),
    { maxLength: 12 },
  )
  .map((specs) => {
    const holds = specs.map(({ client, key, from, long, leaseFrom, leaseMs, halves }, n): Hold => {
      const fromNs = (from + halves / 2) * UNIT_NS;
      const grantSentNs = fromNs + leaseFrom * UNIT_NS;
      return {
        client: `c${client}`,
        key: `lock:${key}`,
        id: n,
        fromNs,
        untilNs: fromNs + long * UNIT_NS,
        endedBy: 'release',
        grantSentNs,
        leaseMs,
        leaseEndNs: grantSentNs + leaseMs * UNIT_NS,
        evidence: [2 * n, 2 * n + 1],
      };
    });
    // One client holds a key once at a time: of those that would not, the later ones go to somebody else.
    holds.forEach((hold, n) => {
      const clash = holds
        .slice(0, n)
        .some((other) => other.client === hold.client && other.key === hold.key && intersect(other, hold));
      if (clash) hold.client = `c${100 + n}`;
    });
    return holds;
  });

function intersect(a: Hold, b: Hold): boolean {
  return Math.max(a.fromNs, b.fromNs) < Math.min(a.untilNs, b.untilNs);
}

/** The definition, pair by pair. */
function oracle(holds: readonly Hold[]): string[] {
  const found: string[] = [];
  for (const a of holds) {
    for (const b of holds) {
      if (a.id >= b.id || a.key !== b.key) continue;
      const start = Math.max(a.fromNs, b.fromNs);
      const marginOf = (hold: Hold) => hold.leaseMs * 1_000 + 2_000_000; // 0.1 % and 2 ms, in ns
      const leasedEnd = Math.min(a.untilNs, b.untilNs, a.leaseEndNs - marginOf(a), b.leaseEndNs - marginOf(b));
      const actedEnd = Math.min(a.untilNs, b.untilNs);
      if (leasedEnd > start) found.push(`exclusion ${a.id} ${b.id} ${start} ${leasedEnd}`);
      else if (actedEnd - start > Math.max(marginOf(a), marginOf(b))) {
        const firstLeaseEnd = Math.min(a.leaseEndNs, b.leaseEndNs);
        found.push(`stale ${a.id} ${b.id} ${Math.max(start, firstLeaseEnd)} ${actedEnd}`);
      }
    }
  }
  return found.sort();
}

const RUNS = 20_000;

it(`finds in ${RUNS} random small histories exactly what the definition, tried on every pair, finds`, () => {
  const seen = { exclusion: 0, stale: 0, neither: 0 };
  fc.assert(
    fc.property(holdsArbitrary, (holds) => {
      const overlaps = overlapsOf(holds);
      for (const overlap of overlaps) seen[overlap.class]++;
      if (overlaps.length === 0) seen.neither++;
      const described = overlaps.map(({ class: name, first, second, fromNs, untilNs }) => {
        const [low, high] = [first.id, second.id].sort((a, b) => a - b);
        return `${name} ${low} ${high} ${fromNs} ${untilNs}`;
      });
      expect(described.sort()).toEqual(oracle(holds));
      expect(overlaps.map(({ fromNs }) => fromNs)).toEqual(overlaps.map(({ fromNs }) => fromNs).sort((a, b) => a - b));
      for (const overlap of overlaps) {
        expect(overlap.untilNs).toBeGreaterThan(overlap.fromNs);
        expect(overlap.first.fromNs).toBeLessThanOrEqual(overlap.second.fromNs);
        if (overlap.class === 'stale') expect(overlap.fromNs).toBeGreaterThanOrEqual(overlap.stale.leaseEndNs);
      }
    }),
    { numRuns: RUNS },
  );
  // A generator that never makes one of these would prove nothing.
  expect(Math.min(seen.exclusion, seen.stale, seen.neither)).toBeGreaterThan(500);
});

it('leaves a thousandth of the lease and 2 ms out of every accusation', () => {
  expect(leaseMarginNs(5_000)).toBe(7e6);
});

it('grows as n log n where many holds overlap none', () => {
  const holdsOf = (count: number) =>
    Array.from(
      { length: count },
      (_, n): Hold => ({
        client: `c${n % 7}`,
        key: `lock:${n % 3}`,
        id: n,
        fromNs: n * 1e6,
        untilNs: n * 1e6 + 2e6,
        endedBy: 'release',
        grantSentNs: n * 1e6 - 1,
        leaseMs: 5_000,
        leaseEndNs: n * 1e6 + 5e9,
        evidence: [n],
      }),
    );
  // The fastest of several: whatever else the machine does can only add.
  const fastestMs = (holds: Hold[]) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now();
        expect(overlapsOf(holds)).toEqual([]);
        return performance.now() - began;
      }),
    );
  const [few, many] = [holdsOf(20_000), holdsOf(160_000)];
  fastestMs(few); // compiled
  // Eight times as many: 8 to 10 times as long; were it quadratic, 64 times.
  expect(fastestMs(many) / fastestMs(few)).toBeLessThan(32);
});
