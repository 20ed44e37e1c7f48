import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nestedHolds, nextHolders } from '../../../../../harness/record/facts/hold-order.js';
import { holdsOf } from '../../../../../harness/record/facts/holds.js';
import type { LockModel } from '../../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../../support/drawn.js';
import { acquire, checkInput, release, type Told } from '../../../checkers/literal.js';

/** For each hold, by client and id: the next holder. */
function next(told: Told[][], model: LockModel = { kind: 'mutex' }): Record<string, string | undefined> {
  const { history } = checkInput(told.flat());
  const holds = holdsOf(history);
  const after = nextHolders(holds, history.operations.keys.length, model);
  const name = (k: number) => `${holds.hold(k).client}/${holds.hold(k).id}`;
  return Object.fromEntries([...after].map((other, k) => [name(k), other < 0 ? undefined : name(other)]));
}

it('the next holder is the first other client that was certainly granted it later', () => {
  expect(
    next([
      acquire('c1', 1, { at: 1 }),
      acquire('c1', 2, { at: 2 }),
      acquire('c3', 1, { at: 5 }),
      acquire('c2', 1, { at: 3 }),
      acquire('c4', 1, { at: 4, key: 'lock:1' }),
    ]),
  ).toEqual({ 'c1/1': 'c2/1', 'c1/2': 'c2/1', 'c2/1': 'c3/1', 'c3/1': undefined, 'c4/1': undefined });
});

it('one whose granted attempt left no later than the other was granted is not known to come later', () => {
  const story = (grantSent: number) =>
    next([acquire('c1', 1, { at: 1, until: 2 }), acquire('c2', 1, { at: 1, until: 3, grantSent })])['c1/1'];
  expect(story(1.5)).toBeUndefined();
  expect(story(2)).toBeUndefined();
  expect(story(2.000000001)).toBe('c2/1');
});

it('says nothing about permits or readers', () => {
  const told = (mode: 'read' | 'write') => [
    acquire('c1', 1, { at: 1, mode }),
    acquire('c2', 1, { at: 2, mode: 'read' }),
  ];
  expect(next(told('write'), { kind: 'read-write' })['c1/1']).toBe('c2/1');
  expect(next(told('read'), { kind: 'read-write' })['c1/1']).toBeUndefined();
  expect(next(told('write'), { kind: 'semaphore', permits: 2 })['c1/1']).toBeUndefined();
});

it('a hold is nested if it was asked for while its client held', () => {
  const nested = (asked: number, client = 'c1', key = 'lock:0') => {
    const { history } = checkInput(
      [
        acquire('c1', 1, { at: 1 }),
        release('c1', 2, { at: 3, until: 5, hold: 1 }),
        acquire(client, 3, { at: asked, key }),
      ].flat(),
    );
    return [...nestedHolds(history)];
  };
  expect(nested(2)).toEqual([0, 1]);
  expect(nested(3)).toEqual([0, 0]);
  expect(nested(2, 'c2')).toEqual([0, 0]);
  expect(nested(2, 'c1', 'lock:1')).toEqual([0, 0]);
});

it('knows the hold of each acquire', () => {
  const { history } = checkInput(
    [
      acquire('c1', 1, { at: 1, type: 'fail' }),
      acquire('c2', 1, { at: 2 }),
      release('c2', 2, { at: 3, hold: 1 }),
    ].flat(),
  );
  expect([...holdsOf(history).ofRow]).toEqual([-1, 0, -1]);
});

const grantsArbitrary = fc.array(
  fc.record({
    client: fc.integer({ min: 0, max: 2 }),
    at: fc.integer({ min: 0, max: 12 }),
    toSend: fc.integer({ min: 0, max: 5 }),
    toHave: fc.integer({ min: 0, max: 5 }),
  }),
  { maxLength: 8 },
);

it('finds what the definition, tried on every pair, finds', () => {
  let some = 0;
  fc.assert(
    fc.property(grantsArbitrary, (specs) => {
      const grants = specs.map(({ client, at, toSend, toHave }, id) => {
        return { client: `c${client}`, id, at, grantSent: at + toSend, until: at + toSend + toHave };
      });
      const told = grants.map(({ client, id, ...times }) => acquire(client, id, times));
      const found = next(told);
      for (const a of grants) {
        const later = grants.filter((b) => b.client !== a.client && b.grantSent > a.until);
        const earliest = Math.min(...later.map(({ until }) => until));
        const other = found[`${a.client}/${a.id}`];
        if (later.length === 0) expect(other).toBeUndefined();
        else {
          some++;
          const chosen = grants.find(({ client, id }) => other === `${client}/${id}`)!;
          expect(later).toContain(chosen);
          expect(chosen.until).toBe(earliest);
        }
      }
    }),
    drawn(1_000),
  );
  expect(some).toBeGreaterThan(cases(333));
});
