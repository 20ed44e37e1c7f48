/**
 * What both procedures that decide exclusion stand on, told without either: which stamps count, how much of a lease is certain, what
 * ends a hold by itself, and the lists and searches that both use (layout.test.ts lists all of it).
 */
import { describe, expect, it } from 'vitest';
import { byKey, sortedBy } from '../../../../../harness/record/facts/by-key.js';
import { firstIndex } from '../../../../../harness/record/facts/first-index.js';
import { wasGivenUp } from '../../../../../harness/record/facts/given-up.js';
import { grantedMs, leaseKindOf } from '../../../../../harness/record/facts/lease-kind.js';
import { leaseMarginNs } from '../../../../../harness/record/facts/margin.js';
import { sortNearlySorted } from '../../../../../harness/record/facts/nearly-sorted.js';
import { once } from '../../../../../harness/record/facts/once.js';
import { attemptSentNs, ownStamp, trustedClients } from '../../../../../harness/record/facts/operations.js';
import { historyOf } from '../../../../../harness/record/history-table.js';
import type { Completion, HistoryEvent } from '../../../../../harness/vocabulary/history.js';

/** c1 asks for k at 10 ns, and is answered at 100 ns. */
function answered(stamps: Completion, more: HistoryEvent[] = []) {
  const about = { client: 'c1', id: 1, op: 'acquire', key: 'k' } as const;
  const history = historyOf([
    { i: 0, atNs: 10, type: 'invoke', ...about, leaseMs: 1_000 },
    { i: 1, atNs: 100, type: 'ok', ...about, ...stamps },
    ...more,
  ]);
  const trusted = trustedClients(history);
  const { operations: ops } = history;
  return {
    isTrusted: trusted[0] === 1,
    sentNs: attemptSentNs(ops, trusted, 0),
    endedNs: ownStamp(ops, trusted, 0, ops.endedNs, ops.readNs[0]!),
  };
}

describe('the stamps of a client', () => {
  it('count where they lie between the sending and the reading: the attempt that was granted, then the operation', () => {
    const whole = { beganNs: 20, grantSentNs: 30, endedNs: 40 };
    expect(answered(whole)).toEqual({ isTrusted: true, sentNs: 30, endedNs: 40 });
    expect(answered({ beganNs: 20, endedNs: 40 })).toEqual({ isTrusted: true, sentNs: 20, endedNs: 40 });
    expect(answered({})).toEqual({ isTrusted: true, sentNs: 10, endedNs: 100 });
  });

  it.each([
    { beganNs: 9, endedNs: 40 },
    { beganNs: 20, endedNs: 101 },
    { beganNs: 40, endedNs: 20 },
    { beganNs: 30, grantSentNs: 20, endedNs: 40 },
    { beganNs: 20, grantSentNs: 41, endedNs: 40 },
  ])('all count for nothing where one cannot be true: %j', (stamps) => {
    expect(answered(stamps)).toEqual({ isTrusted: false, sentNs: 10, endedNs: 100 });
  });

  it('cannot be true of a renewal that is told before it was sent, nor of a loss of what was not taken', () => {
    const whole = { beganNs: 20, grantSentNs: 30, endedNs: 40 };
    const about = { i: 2, atNs: 200, client: 'c1', hold: 1, key: 'k' } as const;
    const told = (event: HistoryEvent) => answered(whole, [event]).isTrusted;
    expect(told({ ...about, type: 'renewed', sentNs: 200, leaseMs: 10 })).toBe(true);
    expect(told({ ...about, type: 'renewed', sentNs: 201, leaseMs: 10 })).toBe(false);
    expect(told({ ...about, type: 'lost', clientNs: 30 })).toBe(true);
    expect(told({ ...about, type: 'lost', clientNs: 29 })).toBe(false);
  });
});

describe('a lease', () => {
  it('is certain but for a thousandth of it and two milliseconds', () => {
    expect(leaseMarginNs(5_000)).toBe(7e6);
    expect(leaseMarginNs(0)).toBe(2e6);
  });

  it('runs for what was asked, unless the first client up says that its locks have none', () => {
    const up = (lease?: 'none') => {
      const who = { client: 'c1', slot: 'c1', host: 'c1', address: '10.77.0.9' };
      return leaseKindOf({
        rare: [{ i: 0, atNs: 0, type: 'client-up', ...who, lock: 'x', features: [], ...(lease && { lease }) }],
      });
    };
    expect([up(), up('none'), leaseKindOf({ rare: [] })]).toEqual(['timed', 'none', 'timed']);
    expect([grantedMs('timed', 300), grantedMs('none', 300)]).toEqual([300, Number.POSITIVE_INFINITY]);
  });
});

it('an acquire was given up where its caller cancelled it, but for one over a reconnect', () => {
  expect(wasGivenUp(5, 'cancelled')).toBe(true);
  expect(wasGivenUp(5, undefined)).toBe(true);
  expect(wasGivenUp(5, 'reconnect')).toBe(false);
  expect(wasGivenUp(Number.NaN, 'cancelled')).toBe(false);
  expect(wasGivenUp(undefined, 'cancelled')).toBe(false);
});

it('lists by key and in an order, searches, and remembers', () => {
  expect(byKey(Int32Array.of(1, 0, 1, 1), 4, 3, (n) => n !== 2)).toEqual([
    Int32Array.of(1),
    Int32Array.of(0, 3),
    Int32Array.of(),
  ]);
  const values = [3, 1, 2, 1];
  expect(sortedBy(Int32Array.of(0, 1, 2, 3), (a, b) => values[a]! - values[b]! || a - b)).toEqual(
    Int32Array.of(1, 3, 2, 0),
  );
  const numbers = Int32Array.of(5, 1, 4, 2, 3);
  sortNearlySorted(numbers, (a, b) => a - b);
  expect(numbers).toEqual(Int32Array.of(1, 2, 3, 4, 5));
  expect([1, 4, 9].map((least) => firstIndex(3, (at) => [2, 4, 6][at]! >= least))).toEqual([0, 1, 3]);
  let made = 0;
  const count = once((_: object) => ++made);
  const one = {};
  expect([count(one), count(one), count({})]).toEqual([1, 1, 2]);
});
