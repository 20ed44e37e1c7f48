import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { acquire, checkInput, clientUp, fault, KEY, ns, queued, release, type Told } from '../literal.js';

const FAIR: LockModel = { kind: 'fair' };
const judged = (told: (Told | Told[])[]) => fifo.check(checkInput(told.flat(), FAIR));

/** c1 asks at 1 s, is queued at 1.5 s, and is granted at 4 s by an attempt that left 1 ms before. */
const waiter = [acquire('c1', 1, { at: 1, until: 4, grantSent: 3.999 }), queued('c1', 1, 1.5)];

it('rejects a grant to a client that asked only when another was queued already', () => {
  const result = judged([...waiter, acquire('c2', 1, { at: 2, until: 3 })]);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { fifoWaiters: 1, fifoOvertaken: 1, fifoInversions: 1 },
    violations: [
      {
        class: 'liveness',
        kind: 'fifo-inversion',
        key: KEY,
        fromNs: ns(2),
        untilNs: ns(4),
        evidence: [0, 1, 2, 3, 4],
        cause: { name: 'unexplained', chain: [{ history: 1 }, { history: 3 }, { history: 4 }] },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    'c1 was queued for lock:0 at 1.500 s; c2 asked for it only at 2.000 s and had it at 3.000 s, before the attempt by which c1 was granted it left (at 3.999 s).',
  );
  expect(result.violations[0]!.holds.map(({ client }) => client)).toEqual(['c2', 'c1']);
});

it('accepts grants in the order of the queue, and what was asked for before the other was surely queued', () => {
  expect(
    judged([...waiter, acquire('c2', 1, { at: 2, until: 5, grantSent: 4.9 }), queued('c2', 1, 2.1)]),
  ).toMatchObject({
    verdict: 'valid',
    notes: [],
    stats: { fifoWaiters: 2, fifoInversions: 0 },
  });
  const asked = (at: number) => judged([...waiter, acquire('c2', 1, { at, until: 3 })]).verdict;
  expect(asked(1.4)).toBe('valid');
  expect(asked(1.5)).toBe('valid'); // at the same instant: concurrent
  expect(asked(1.500000001)).toBe('invalid');
});

it('accepts where the grants may have been made in the right order', () => {
  const had = (until: number) => judged([...waiter, acquire('c2', 1, { at: 2, until })]).verdict;
  expect(had(3.999)).toBe('valid'); // c1's attempt may have come first
  expect(had(3.998)).toBe('invalid');
});

it('another key, a try that was refused and one of unknown outcome overtake no client', () => {
  expect(judged([...waiter, acquire('c2', 1, { at: 2, until: 3, key: 'lock:1' })]).verdict).toBe('valid');
  expect(judged([...waiter, acquire('c2', 1, { at: 2, until: 3, type: 'fail', reason: 'held' })]).verdict).toBe(
    'valid',
  );
  expect(judged([...waiter, acquire('c2', 1, { at: 2, until: 3, type: 'info', reason: 'x' })]).verdict).toBe('valid');
});

it('a client that gave up was not overtaken, nor one that held the lock already', () => {
  const gaveUp = acquire('c1', 1, { at: 1, until: 4, type: 'fail', reason: 'held' });
  const story = [gaveUp, queued('c1', 1, 1.5), acquire('c2', 1, { at: 2, until: 3 })];
  expect(
    judged([...story, ...[acquire('c3', 1, { at: 5, until: 6, grantSent: 5.9 }), queued('c3', 1, 5.1)]]),
  ).toMatchObject({ verdict: 'valid' });
  const nested = [
    acquire('c2', 1, { at: 0.1 }),
    ...waiter,
    acquire('c2', 2, { at: 2, until: 2.1 }),
    release('c2', 3, { at: 3, hold: 2 }),
    release('c2', 4, { at: 3.5, hold: 1 }),
  ];
  expect(judged(nested)).toMatchObject({ verdict: 'valid', stats: { fifoWaiters: 1 } });
  const again = (leaseMs: number, type: 'ok' | 'fail') => [
    acquire('c2', 1, { at: 0.1, leaseMs }),
    release('c2', 2, { at: 0.5, hold: 1, type, ...(type === 'fail' && { reason: 'unreachable' }) }),
    ...waiter,
    acquire('c2', 3, { at: 2, until: 2.1 }),
  ];
  expect(judged(again(5_000, 'fail')).verdict).toBe('valid');
  expect(judged(again(1_500, 'fail')).verdict).toBe('invalid');
  expect(judged(again(5_000, 'ok')).verdict).toBe('invalid');
});

it('a client that had to queue again has only its last place', () => {
  const again = [...waiter, queued('c1', 1, 2.5)];
  expect(judged([...again, acquire('c2', 1, { at: 2, until: 3 })]).verdict).toBe('valid');
  expect(judged([...again, acquire('c2', 1, { at: 2.6, until: 3 })]).verdict).toBe('invalid');
});

it('a client that was stopped or cut off while it waited may have been thrown out of the queue', () => {
  const overtaken = [...waiter, acquire('c2', 1, { at: 2, until: 3 }), clientUp('c1', 'place-1')];
  const struck = (from: number, until: number, targets: string[]) =>
    judged([...overtaken, fault(from, 0, 'pause', 'strike', targets), fault(until, 0, 'pause', 'heal', targets)]);
  expect(struck(1.6, 2, ['c1'])).toMatchObject({
    verdict: 'valid',
    stats: { fifoWaitersNotJudged: 1, fifoWaiters: 1 },
  });
  expect(struck(1.6, 2, ['place-1']).verdict).toBe('valid');
  expect(struck(1.6, 2, ['c2']).verdict).toBe('invalid');
  expect(struck(1.1, 1.4, ['c1']).verdict).toBe('invalid');
  expect(struck(4.1, 5, ['c1']).verdict).toBe('invalid');
});

it('a place that is reported with a stamp that cannot be true counts from when the harness read of it', () => {
  const untrue = (clientNs: number): Told => ({
    at: 2.5,
    body: { type: 'step', client: 'c1', name: 'queued', clientNs, hold: 1 },
  });
  const story = (clientNs: number, asked: number) =>
    judged([waiter[0]!, untrue(clientNs), acquire('c2', 1, { at: asked, until: 3 })]).verdict;
  expect(story(ns(1.5), 2)).toBe('invalid');
  expect(story(ns(0.5), 2)).toBe('valid');
  expect(story(ns(9), 2)).toBe('valid');
  expect(story(ns(9), 2.6)).toBe('invalid');
});

it('cannot tell where no client said that it was queued, or none sent anything after it', () => {
  expect(judged([acquire('c1', 1, { at: 1, until: 4 })])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/no client said that it was queued/)],
  });
  expect(judged([acquire('c1', 1, { at: 1, until: 4 }), queued('c1', 1, 2)])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/no granted attempt is known to have left/)],
  });
  expect(fifo.check(checkInput(acquire('c1', 1, { at: 1 }))).verdict).toBe('valid');
});

const grantsArbitrary = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 15 }),
    toQueue: fc.integer({ min: 0, max: 5 }),
    toGrant: fc.integer({ min: -2, max: 8 }),
    toHave: fc.integer({ min: 0, max: 3 }),
    says: fc.boolean(),
  }),
  { maxLength: 8 },
);

it('finds in random small histories what the definition, tried on every pair, finds', () => {
  const seen = { invalid: 0, valid: 0, unknown: 0 };
  fc.assert(
    fc.property(grantsArbitrary, (specs) => {
      const grants = specs.map(({ at, toQueue, toGrant, toHave, says }) => {
        const queuedAt = at + toQueue;
        const grantSent = Math.max(at, queuedAt + toGrant);
        return { at, queuedAt, grantSent, had: Math.max(grantSent, queuedAt) + toHave, says };
      });
      const told = grants.map(({ at, queuedAt, grantSent, had, says }, n) => [
        ...acquire(`c${n}`, 1, { at, until: had, grantSent }),
        ...(says ? [queued(`c${n}`, 1, queuedAt)] : []),
      ]);
      let inversions = 0;
      const overtaken = new Set<number>();
      grants.forEach((a, m) => {
        grants.forEach((b) => {
          if (!a.says || !(a.queuedAt < b.at && b.had < a.grantSent)) return;
          inversions++;
          overtaken.add(m);
        });
      });
      const result = judged(told);
      seen[result.verdict]++;
      expect(result.stats).toMatchObject({ fifoInversions: inversions, fifoOvertaken: overtaken.size });
      expect(result.violations.map(({ holds }) => holds[1]!.client).toSorted()).toEqual(
        [...overtaken].map((n) => `c${n}`).toSorted(),
      );
      expect(result.verdict === 'invalid').toBe(inversions > 0);
    }),
    drawn(1_000),
  );
  expect(Math.min(seen.invalid, seen.valid, seen.unknown)).toBeGreaterThan(cases(20));
});
