import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../../checkers/linearizability/models/index.js';
import { search } from '../../../../checkers/linearizability/search.js';
import { isTimedFeasible } from '../../../../checkers/linearizability/timed-oracle.js';
import type { Reading } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { Story } from '../build.js';
import { anyOperations, readings } from './any-operations.js';
import { keyOf } from './key-of.js';
import { keyHistory, MODELS } from './small-histories.js';

const LEASES: Reading = { failedReleaseEnds: false, leases: true, triesInform: false };
const MUTEX: LockModel = { kind: 'mutex' };

function feasible(story: Story, reading: Partial<Reading> = {}, model = MUTEX): boolean {
  return isTimedFeasible(keyOf(story), model, { ...LEASES, ...reading });
}

describe('the instants of an order', () => {
  const lease = { leaseMs: 10_000 };

  it('lie within the intervals, ends included', () => {
    const story = (last: number) => new Story().acquire('c1', [0, 1]).acquire('c2', [0, last]).release('c1', [2, 3]);
    expect(feasible(story(2))).toBe(true);
    expect(feasible(story(1))).toBe(false);
  });

  it('leave a lease its time, counted from the grant', () => {
    const next = (last: number) => new Story().acquire('c1', [5, 7], lease).acquire('c2', [8, last], lease);
    expect(feasible(next(14))).toBe(false);
    expect(feasible(next(15))).toBe(true);
    expect(feasible(next(15), { leases: false })).toBe(false);
  });

  it('add up along a chain of leases', () => {
    const chain = (last: number) =>
      new Story().acquire('c1', [0, 1], lease).acquire('c2', [0, 11], lease).acquire('c3', [0, last], lease);
    expect(feasible(chain(19))).toBe(false);
    expect(feasible(chain(20))).toBe(true);
  });

  it('need no lease to end where a release of unknown outcome may have done it', () => {
    const story = new Story().acquire('c1', [0, 1], lease).release('c1', [2]).acquire('c2', [3, 4], lease);
    expect(feasible(story)).toBe(true);
  });

  it('let a failed release end the hold, or its lease, as it is read', () => {
    const story = (last: number) =>
      new Story()
        .acquire('c1', [0, 1], lease)
        .release('c1', [2, 3], { reason: 'not-owner' })
        .acquire('c2', [4, last], lease);
    expect(feasible(story(5), { failedReleaseEnds: true })).toBe(true);
    expect(feasible(story(5))).toBe(false);
    expect(feasible(story(10))).toBe(true);
  });

  it('put no release before the grant that it is about, even within one instant', () => {
    const story = new Story()
      .acquire('c1', [0, 5])
      .release('c1', [5, 5], { reason: 'not-owner' })
      .acquire('c2', [6, 7], { reason: 'held' });
    expect(feasible(story, { failedReleaseEnds: true, triesInform: true })).toBe(false);
  });

  it('let a hold last longer than its lease: renewals are not in the history, and a refusal does not accuse', () => {
    const story = new Story().acquire('c1', [0, 1], lease).acquire('c2', [50, 51], { reason: 'held' });
    expect(feasible(story, { triesInform: true })).toBe(true);
    const none = new Story().acquire('c2', [50, 51], { reason: 'held' });
    expect(feasible(none, { triesInform: true })).toBe(false);
  });

  it('give each permit its lease', () => {
    const two: LockModel = { kind: 'semaphore', permits: 2 };
    const story = (last: number) =>
      new Story().acquire('c1', [0, 1], lease).acquire('c2', [3, 3], lease).acquire('c3', [4, last], lease);
    expect(feasible(story(9), {}, two)).toBe(false);
    expect(feasible(story(10), {}, two)).toBe(true);
    const four = (last: number) => story(10).acquire('c4', [4, last], lease);
    expect(feasible(four(12), {}, two)).toBe(false);
    expect(feasible(four(13), {}, two)).toBe(true);
  });
});

it('throws rather than searching for hours', () => {
  const eleven = new Story().times(11, (story, n) => story.acquire(`c${n}`, [n, n + 1]));
  expect(() => feasible(eleven)).toThrow('11 operations have too many orders to try; at most 10 do');
});

const RUNS = cases(500);

describe.each(MODELS)('$kind', (lock) => {
  it(`agrees with the search on ${RUNS} random small histories, with leases and without`, () => {
    const seen = { leased: { valid: 0, invalid: 0 }, untimed: { valid: 0, invalid: 0 }, differ: 0 };
    fc.assert(
      fc.property(anyOperations(7), readings, (ops, read) => {
        const history = keyHistory(ops);
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
