import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../../checkers/linearizability/models/index.js';
import { search } from '../../../../checkers/linearizability/search.js';
import { isTimedFeasible } from '../../../../checkers/linearizability/timed-oracle.js';
import type { Reading } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { acquire, literal, MODELS, type Operation, operations, readings, release } from './literal.js';

const LEASES: Reading = { failedReleaseEnds: false, leases: true, triesInform: false };
const MUTEX: LockModel = { kind: 'mutex' };

function feasible(list: readonly Operation[], reading: Partial<Reading> = {}, model = MUTEX): boolean {
  return isTimedFeasible(literal(list), model, { ...LEASES, ...reading });
}

describe('the instants of an order', () => {
  const lease = { leaseNs: 10 };

  it('lie within the intervals, ends included', () => {
    const list = (ns: number) => [acquire('c1', 0, 1), acquire('c2', 0, ns), release('c1', 0, 2, 3)];
    expect(feasible(list(2))).toBe(true);
    expect(feasible(list(1))).toBe(false);
  });

  it('leave a lease its time, counted from the grant', () => {
    const next = (ns: number) => [acquire('c1', 5, 7, lease), acquire('c2', 8, ns, lease)];
    expect(feasible(next(14))).toBe(false);
    expect(feasible(next(15))).toBe(true);
    expect(feasible(next(15), { leases: false })).toBe(false);
  });

  it('add up along a chain of leases', () => {
    const chain = (ns: number) => [
      acquire('c1', 0, 1, lease),
      acquire('c2', 0, 11, lease),
      acquire('c3', 0, ns, lease),
    ];
    expect(feasible(chain(19))).toBe(false);
    expect(feasible(chain(20))).toBe(true);
  });

  it('need no lease to end where a release of unknown outcome may have done it', () => {
    const list = [acquire('c1', 0, 1, lease), release('c1', 0, 2), acquire('c2', 3, 4, lease)];
    expect(feasible(list)).toBe(true);
  });

  it('let a failed release end the hold, or its lease, as it is read', () => {
    const list = (ns: number) => [
      acquire('c1', 0, 1, lease),
      release('c1', 0, 2, 3, 'not-owner'),
      acquire('c2', 4, ns, lease),
    ];
    expect(feasible(list(5), { failedReleaseEnds: true })).toBe(true);
    expect(feasible(list(5))).toBe(false);
    expect(feasible(list(10))).toBe(true);
  });

  it('put no release before the grant that it is about, even within one instant', () => {
    const list = [acquire('c1', 0, 5), release('c1', 0, 5, 5, 'not-owner'), acquire('c2', 6, 7, { reason: 'held' })];
    expect(feasible(list, { failedReleaseEnds: true, triesInform: true })).toBe(false);
  });

  it('let a hold last longer than its lease: renewals are not in the history, and a refusal does not accuse', () => {
    const list = [acquire('c1', 0, 1, lease), acquire('c2', 50, 51, { reason: 'held' })];
    expect(feasible(list, { triesInform: true })).toBe(true);
    expect(feasible(list.slice(1), { triesInform: true })).toBe(false);
  });

  it('give each permit its lease', () => {
    const two: LockModel = { kind: 'semaphore', permits: 2 };
    const list = (ns: number) => [acquire('c1', 0, 1, lease), acquire('c2', 3, 3, lease), acquire('c3', 4, ns, lease)];
    expect(feasible(list(9), {}, two)).toBe(false);
    expect(feasible(list(10), {}, two)).toBe(true);
    const four = [...list(10), acquire('c4', 4, 12, lease)];
    expect(feasible(four, {}, two)).toBe(false);
    expect(feasible([...list(10), acquire('c4', 4, 13, lease)], {}, two)).toBe(true);
  });
});

it('throws rather than searching for hours', () => {
  const eleven = Array.from({ length: 11 }, (_, n) => acquire(`c${n}`, n, n + 1));
  expect(() => feasible(eleven)).toThrow('11 operations have too many orders to try; at most 10 do');
});

const RUNS = cases(500);

describe.each(MODELS)('$kind', (lock) => {
  it(`agrees with the search on ${RUNS} random small histories, with leases and without`, () => {
    const seen = { leased: { valid: 0, invalid: 0 }, untimed: { valid: 0, invalid: 0 }, differ: 0 };
    fc.assert(
      fc.property(operations(7), readings, (list, read) => {
        const history = literal(list);
        const verdicts = [true, false].map((leases) => {
          const reading = { ...read, leases };
          const verdict = isTimedFeasible(history, lock, reading) ? 'valid' : 'invalid';
          expect(search(modelOf(lock), history, reading, { configurations: 1e6, steps: 1e7 }).verdict).toBe(verdict);
          seen[leases ? 'leased' : 'untimed'][verdict]++;
          return verdict;
        });
        if (verdicts[0] !== verdicts[1]) seen.differ++;
      }),
      drawn(500),
    );
    const { leased, untimed, differ } = seen;
    // A generator that hardly makes one of these would prove nothing.
    const least = Math.min(leased.valid, leased.invalid, untimed.valid, untimed.invalid);
    expect(least).toBeGreaterThan(RUNS / 20);
    expect(differ).toBeGreaterThan(RUNS / 100);
  });
});
