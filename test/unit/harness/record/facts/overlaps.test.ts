import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaseMarginNs } from '../../../../../harness/record/facts/margin.js';
import { overlapsOf } from '../../../../../harness/record/facts/overlaps.js';
import type { Hold } from '../../../../../harness/vocabulary/verdict.js';
import { cases, drawn } from '../../../../support/drawn.js';
import { growth, LARGEST_GROWTH } from '../../../checkers/growth.js';

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
      shares: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((specs) => {
    const holds = specs.map(({ client, key, from, long, leaseFrom, leaseMs, halves, shares }, n): Hold => {
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
        mode: shares ? 'read' : 'write',
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

const marginOf = (hold: Hold) => hold.leaseMs * 1_000 + 2_000_000; // 0.1 % and 2 ms, in ns

/** Until when it was acted on: of who went on for longer than the margin past a lease, until then. */
const actedEndOf = (hold: Hold) =>
  hold.untilNs - hold.leaseEndNs > marginOf(hold)
    ? hold.untilNs
    : Math.min(hold.untilNs, hold.leaseEndNs - marginOf(hold));

/** Whether a client certainly acted as the holder at that instant: not in the last of its lease, in which nobody can tell. */
function isActedOn(hold: Hold, ns: number): boolean {
  const isOpen = hold.leaseEndNs - marginOf(hold) <= ns && ns < hold.leaseEndNs;
  return hold.fromNs <= ns && ns < actedEndOf(hold) && !isOpen;
}

/** The definition, pair by pair. */
function pairs(holds: readonly Hold[], together: (a: Hold, b: Hold) => boolean): string[] {
  const found: string[] = [];
  for (const a of holds) {
    for (const b of holds) {
      if (a.id >= b.id || a.key !== b.key || together(a, b)) continue;
      const start = Math.max(a.fromNs, b.fromNs);
      const leasedEnd = Math.min(a.untilNs, b.untilNs, a.leaseEndNs - marginOf(a), b.leaseEndNs - marginOf(b));
      if (leasedEnd > start) found.push(`exclusion ${a.id} ${b.id} ${start} ${leasedEnd}`);
      else {
        const instants = [start, a.leaseEndNs, b.leaseEndNs].sort((one, other) => one - other);
        const since = instants.find((ns) => ns >= start && isActedOn(a, ns) && isActedOn(b, ns));
        if (since !== undefined) found.push(`stale ${a.id} ${b.id} ${since} ${Math.min(actedEndOf(a), actedEndOf(b))}`);
      }
    }
  }
  return found.sort();
}

/** A hold is one too many if, at the instant at which it began, that many others certainly held. */
function oneTooMany(holds: readonly Hold[], permits: number): string[] {
  return holds
    .filter((hold) => hold.untilNs > hold.fromNs)
    .flatMap((hold) => {
      const before = holds.filter(
        (other) =>
          other.key === hold.key &&
          other.untilNs > hold.fromNs &&
          (other.fromNs < hold.fromNs ||
            (other.fromNs === hold.fromNs &&
              other.untilNs > other.fromNs &&
              (other.untilNs < hold.untilNs || (other.untilNs === hold.untilNs && other.id < hold.id)))),
      );
      const leased = (one: Hold) => one.leaseEndNs - marginOf(one) > hold.fromNs;
      if (before.length < permits) return [];
      return leased(hold) && before.filter(leased).length >= permits ? [`exclusion ${hold.id}`] : [`maybe ${hold.id}`];
    })
    .sort();
}

const RUNS = cases(2_000);

describe.each([
  ['mutex', { kind: 'mutex' }, () => false],
  ['read-write', { kind: 'read-write' }, (a: Hold, b: Hold) => a.mode === 'read' && b.mode === 'read'],
  ['reentrant', { kind: 'reentrant', depth: 3 }, () => false],
] as const)('overlaps of a %s lock', (_, model, together) => {
  it(`are in ${RUNS} random small histories exactly what the definition, tried on every pair, finds`, () => {
    const seen = { exclusion: 0, stale: 0, neither: 0 };
    fc.assert(
      fc.property(holdsArbitrary, (holds) => {
        const overlaps = overlapsOf(holds, model);
        if (overlaps.length === 0) seen.neither++;
        const described = overlaps.map((overlap) => {
          const [low, high] = [overlap.first.id, overlap.second.id].sort((a, b) => a - b);
          seen[overlap.class]++;
          return `${overlap.class} ${low} ${high} ${overlap.fromNs} ${overlap.untilNs}`;
        });
        expect(described.sort()).toEqual(pairs(holds, together));
        expect(overlaps.map(({ fromNs }) => fromNs)).toEqual(
          overlaps.map(({ fromNs }) => fromNs).sort((a, b) => a - b),
        );
        for (const overlap of overlaps) {
          expect(overlap.untilNs).toBeGreaterThan(overlap.fromNs);
          expect(overlap.first.fromNs).toBeLessThanOrEqual(overlap.second.fromNs);
          if (overlap.class === 'stale') expect(overlap.fromNs).toBeGreaterThanOrEqual(overlap.stale.leaseEndNs);
        }
      }),
      drawn(2_000),
    );
    // A generator that never makes one of these would prove nothing.
    expect(Math.min(seen.exclusion, seen.stale, seen.neither)).toBeGreaterThan(RUNS / 40);
  });
});

it('of one owner of a reentrant lock are none', () => {
  const holds: Hold[] = [0, 1].map((n) => ({
    client: 'c1',
    key: 'k',
    id: n,
    fromNs: n * 1e6,
    untilNs: 1e9,
    endedBy: 'release',
    grantSentNs: n * 1e6,
    leaseMs: 5_000,
    leaseEndNs: 5e9,
    evidence: [n],
  }));
  expect(overlapsOf(holds, { kind: 'reentrant', depth: 2 })).toEqual([]);
  expect(() => overlapsOf(holds, { kind: 'mutex' })).toThrow('bug in the harness');
});

describe.each([1, 2, 3])('with %d permits', (permits) => {
  it(`a hold is found in ${RUNS} random small histories if and only if it was one too many`, () => {
    const seen = { exclusion: 0, stale: 0, neither: 0 };
    fc.assert(
      fc.property(holdsArbitrary, (holds) => {
        const overlaps = overlapsOf(holds, { kind: 'semaphore', permits });
        if (overlaps.length === 0) seen.neither++;
        const expected = oneTooMany(holds, permits);
        const exclusions = overlaps.flatMap((one) => (one.class === 'exclusion' ? [`exclusion ${one.second.id}`] : []));
        expect(exclusions.sort()).toEqual(expected.filter((one) => one.startsWith('exclusion')));
        for (const overlap of overlaps) {
          const all = [overlap.first, ...overlap.others, overlap.second];
          seen[overlap.class]++;
          expect(new Set(all).size).toBe(permits + 1);
          const endOf = (one: Hold) =>
            overlap.class === 'stale' ? actedEndOf(one) : Math.min(one.untilNs, one.leaseEndNs - marginOf(one));
          expect(overlap.untilNs).toBe(Math.min(...all.map(endOf)));
          expect(overlap.untilNs).toBeGreaterThan(overlap.fromNs);
          if (overlap.class === 'exclusion') continue;
          expect(expected).toContain(`maybe ${overlap.second.id}`);
          expect(overlap.stale.leaseEndNs).toBe(Math.min(...all.map(({ leaseEndNs }) => leaseEndNs)));
        }
      }),
      drawn(2_000),
    );
    expect(Math.min(seen.exclusion, seen.stale, seen.neither)).toBeGreaterThan(permits === 3 ? RUNS / 500 : RUNS / 100);
  });
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
  const [few, many] = [holdsOf(20_000), holdsOf(160_000)];
  const run = (holds: Hold[]) => expect(overlapsOf(holds, { kind: 'mutex' })).toEqual([]);
  run(few); // compiled
  expect(
    growth(
      () => run(few),
      () => run(many),
    ),
  ).toBeLessThan(LARGEST_GROWTH);
});
