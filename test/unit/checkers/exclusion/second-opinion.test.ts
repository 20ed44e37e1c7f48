/** A second opinion must share every true finding, and none that is not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isImpossibleOverlap } from '../../../../checkers/exclusion/second-opinion.js';
import type { Overlap } from '../../../../harness/record/facts/overlaps.js';
import { overlapsOf } from '../../../../harness/record/facts/overlaps.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import type { Hold } from '../../../../harness/vocabulary/verdict.js';
import { cases, drawn } from '../../../support/drawn.js';

const MS = 1e6;

/** Holds of different clients in whole milliseconds, close enough together for overlaps of every sort. */
const holdsArbitrary = (count: number) =>
  fc
    .array(
      fc.record({
        from: fc.integer({ min: 10, max: 40 }),
        long: fc.integer({ min: 1, max: 40 }),
        waited: fc.integer({ min: 0, max: 5 }),
        leaseMs: fc.integer({ min: 1, max: 40 }),
        shares: fc.boolean(),
      }),
      { minLength: count, maxLength: count + 2 },
    )
    .map((specs) =>
      specs.map(({ from, long, waited, leaseMs, shares }, n): Hold => {
        const [fromNs, grantSentNs] = [from * MS, (from - waited) * MS];
        return {
          client: `c${n}`,
          key: 'lock:0',
          id: n,
          fromNs,
          untilNs: fromNs + long * MS,
          endedBy: 'release',
          grantSentNs,
          leaseMs,
          leaseEndNs: grantSentNs + leaseMs * MS,
          mode: shares ? 'read' : 'write',
          evidence: [2 * n, 2 * n + 1],
        };
      }),
    );

const models: LockModel[] = [
  { kind: 'mutex' },
  { kind: 'reentrant', depth: 2 },
  { kind: 'read-write' },
  { kind: 'fair' },
  { kind: 'semaphore', permits: 2 },
  { kind: 'semaphore', permits: 3 },
];

describe.each(models.map((model) => [JSON.stringify(model), model] as const))('for %s', (_, model) => {
  const holdersTogether = model.kind === 'semaphore' ? model.permits + 1 : 2;

  it('confirms every overlap that the sweep finds', () => {
    const seen = { exclusion: 0, stale: 0 };
    fc.assert(
      fc.property(holdsArbitrary(holdersTogether), (holds) => {
        for (const overlap of overlapsOf(holds, model)) {
          seen[overlap.class]++;
          expect(isImpossibleOverlap(overlap, model)).toBe(true);
        }
      }),
      drawn(200),
    );
    expect(Math.min(seen.exclusion, seen.stale)).toBeGreaterThan(cases(8));
  });

  it('does not confirm one whose last holder came only after another had ended', () => {
    fc.assert(
      fc.property(holdsArbitrary(holdersTogether), (holds) => {
        for (const overlap of overlapsOf(holds, model)) {
          const lateNs = overlap.class === 'exclusion' ? overlap.first.leaseEndNs : overlap.first.untilNs;
          const second = { ...overlap.second, fromNs: Math.max(lateNs, overlap.second.fromNs) + 1 };
          second.untilNs = Math.max(second.untilNs, second.fromNs + 1);
          expect(isImpossibleOverlap({ ...overlap, second } as Overlap, model)).toBe(false);
        }
      }),
      drawn(200),
    );
  });
});

it('confirms an overlap of six holders where there are five permits, and not one of five', () => {
  const holds = Array.from(
    { length: 6 },
    (_, n): Hold => ({
      client: `c${n}`,
      key: 'lock:0',
      id: n,
      fromNs: n * MS,
      untilNs: 100 * MS,
      endedBy: 'release',
      grantSentNs: n * MS,
      leaseMs: 5_000,
      leaseEndNs: n * MS + 5_000 * MS,
      evidence: [n],
    }),
  );
  const [overlap] = overlapsOf(holds, { kind: 'semaphore', permits: 5 });
  expect(isImpossibleOverlap(overlap!, { kind: 'semaphore', permits: 5 })).toBe(true);
  const late = { ...overlap!.second, fromNs: 6_000 * MS, untilNs: 6_001 * MS };
  expect(isImpossibleOverlap({ ...overlap!, second: late }, { kind: 'semaphore', permits: 5 })).toBe(false);
});

describe('counts a lease from any instant between its request and its answer', () => {
  /** c1 asked at 1 s and had its answer at 3 s: its lease of 5 s certainly ran until 6 s, and may have run until 8 s. */
  const beside = (fromMs: number): Overlap => {
    const hold = (client: string, id: number, sentMs: number, grantedMs: number, untilMs: number): Hold => ({
      client,
      key: 'lock:0',
      id,
      fromNs: grantedMs * MS,
      untilNs: untilMs * MS,
      endedBy: 'release',
      grantSentNs: sentMs * MS,
      leaseMs: 5_000,
      leaseEndNs: (sentMs + 5_000) * MS,
      evidence: [id],
    });
    const [first, second] = [hold('c1', 1, 1_000, 3_000, 9_000), hold('c2', 2, fromMs - 10, fromMs, 9_000)];
    return { class: 'exclusion', first, second, others: [], fromNs: second.fromNs, untilNs: 9_000 * MS };
  };

  it.each([
    [5_990, true],
    [6_500, false],
  ])('beside a grant at %i ms: impossible is %s', (fromMs, impossible) => {
    expect(isImpossibleOverlap(beside(fromMs), { kind: 'mutex' })).toBe(impossible);
  });
});

it.each([
  ['read', 'read', false],
  ['read', 'write', true],
  ['write', 'read', true],
] as const)('a hold to %s beside one to %s: impossible is %s', (mode, other, impossible) => {
  const held = (client: string, id: number, how: 'read' | 'write'): Hold => ({
    ...{ client, key: 'lock:0', id, fromNs: id * MS, untilNs: 100 * MS, endedBy: 'release', grantSentNs: id * MS },
    ...{ leaseMs: 5_000, leaseEndNs: 5_000 * MS, mode: how, evidence: [id] },
  });
  const [first, second] = [held('c1', 1, mode), held('c2', 2, other)];
  const overlap: Overlap = { class: 'exclusion', first, second, others: [], fromNs: 2 * MS, untilNs: 100 * MS };
  expect(isImpossibleOverlap(overlap, { kind: 'read-write' })).toBe(impossible);
});
