import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LockHistory, lockHistory } from '../../../../bench/lock-histories.js';
import { isUnknown } from '../../../../checkers/linearizability/models/answers.js';
import { modelOf } from '../../../../checkers/linearizability/models/index.js';
import { search } from '../../../../checkers/linearizability/search.js';
import type { KeyHistory, Reading, SearchBudget } from '../../../../checkers/linearizability/types.js';
import { OP, OUTCOME } from '../../../../harness/record/history-table.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { Story } from '../build.js';
import { anyOperations, readings } from './any-operations.js';
import { keyOf } from './key-of.js';
import { keyHistory, MODELS } from './small-histories.js';

const BUDGET: SearchBudget = { configurations: 1e6, steps: 1e8 };
const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const MUTEX: LockModel = { kind: 'mutex' };

function searched(story: Story, model: LockModel = MUTEX, reading: Partial<Reading> = {}) {
  return search(modelOf(model), keyOf(story), { ...STRICT, ...reading }, BUDGET);
}

describe('a mutex', () => {
  it('is handed over, and the order says how', () => {
    const { verdict, order } = searched(
      new Story().acquire('c1', [0, 5]).acquire('c2', [1, 2]).release('c2', [3, 4]).release('c1', [6, 7]),
    );
    expect(verdict).toBe('valid');
    expect([...order!]).toEqual([1, 2, 0, 3]);
  });

  it('is not held by two', () => {
    expect(searched(new Story().acquire('c1', [0, 1]).acquire('c2', [2, 3]).release('c1', [4, 5]))).toMatchObject({
      verdict: 'invalid',
      reached: 1,
    });
  });

  it('takes equal stamps as concurrent', () => {
    const until = (freed: number) => new Story().acquire('c1', [0, 1]).release('c1', [2, freed]).acquire('c2', [1, 2]);
    expect(searched(until(4)).verdict).toBe('valid');
    expect(searched(new Story().acquire('c1', [0, 1]).acquire('c2', [1, 2]).release('c1', [3, 4])).verdict).toBe(
      'invalid',
    );
  });

  it('may have been taken by an acquire of unknown outcome whose release succeeded', () => {
    const story = (released: number) =>
      new Story().acquire('c1', [0]).acquire('c2', [1, 2]).release('c1', [3, released]).release('c2', [5, 6]);
    expect(searched(story(4)).verdict).toBe('invalid'); // c2 held all of [3, 4]
    expect(searched(story(5)).verdict).toBe('valid');
  });

  it('may have been freed by a release of unknown outcome, but not before its call', () => {
    const story = (called: number) => new Story().acquire('c1', [0, 1]).release('c1', [called]).acquire('c2', [3, 4]);
    expect(searched(story(4)).verdict).toBe('valid');
    expect(searched(story(5)).verdict).toBe('invalid');
  });
});

describe('a failed release', () => {
  const story = (reason: string) =>
    new Story().acquire('c1', [0, 1]).release('c1', [2, 3], { reason }).acquire('c2', [4, 5]);

  it('ends the hold or changes nothing, as it is read', () => {
    expect(searched(story('not-owner'), MUTEX, { failedReleaseEnds: true }).verdict).toBe('valid');
    expect(searched(story('not-owner')).verdict).toBe('invalid');
  });

  it('ends nothing where it reached no server', () => {
    expect(searched(story('unreachable'), MUTEX, { failedReleaseEnds: true }).verdict).toBe('invalid');
  });

  it('does not take the hold from a release that succeeded meanwhile', () => {
    const twice = new Story()
      .acquire('c1', [0, 1])
      .release('c1', [2, 5], { reason: 'not-owner' })
      .release('c1', [3, 4]);
    expect(searched(twice, MUTEX, { failedReleaseEnds: true })).toMatchObject({
      verdict: 'valid',
      order: Int32Array.of(0, 2, 1),
    });
  });

  it('ends no hold before its grant, even within one instant', () => {
    // Ended at 5, c1's hold cannot be what c2 saw.
    const early = new Story()
      .acquire('c1', [0, 5])
      .release('c1', [5, 5], { reason: 'not-owner' })
      .acquire('c2', [6, 7], { reason: 'held' });
    expect(searched(early, MUTEX, { failedReleaseEnds: true, triesInform: true }).verdict).toBe('invalid');
  });
});

describe('a refused try', () => {
  const freed = (story = new Story()) => story.acquire('c1', [0, 1]).release('c1', [2, 3]);
  const story = freed().acquire('c2', [4, 5], { reason: 'held' });

  it('proves that a client held, if it is read so', () => {
    expect(searched(story).verdict).toBe('valid');
    expect(searched(story, MUTEX, { triesInform: true }).verdict).toBe('invalid');
  });

  it('is explained by an acquire of unknown outcome', () => {
    const unknownFirst = freed(new Story().acquire('c3', [0])).acquire('c2', [4, 5], { reason: 'held' });
    expect(searched(unknownFirst, MUTEX, { triesInform: true })).toMatchObject({
      verdict: 'valid',
      order: Int32Array.of(1, 2, 0, 3),
    });
  });

  it('is explained by any of them that could hold, not just the first', () => {
    const fenced: LockModel = { kind: 'fenced' };
    const crashed = (token: number) => new Story().acquire('c2', [0, 100], { type: 'info', token });
    const waited = (story: Story) =>
      story.acquire('c1', [2, 3], { token: 7 }).release('c1', [4, 5]).acquire('c4', [6, 7], { reason: 'held' });
    expect(searched(waited(crashed(6).acquire('c3', [1])), fenced, { triesInform: true }).verdict).toBe('valid'); // by c3's
    expect(searched(waited(crashed(6)), fenced, { triesInform: true }).verdict).toBe('invalid');
  });

  it('is explained by one after another where leases end', () => {
    const lease = { leaseMs: 2_000 };
    const refused = { reason: 'held' };
    const story = new Story()
      .acquire('c1', [0], lease)
      .acquire('c2', [0], lease)
      .acquire('c3', [1, 1], refused)
      .acquire('c3', [5, 6])
      .release('c3', [7, 8])
      .acquire('c3', [9, 9], refused);
    expect(searched(story, MUTEX, { triesInform: true, leases: true }).verdict).toBe('valid');
    expect(searched(story, MUTEX, { triesInform: true }).verdict).toBe('invalid');
  });

  it('says nothing where no client was said to hold', () => {
    const split = freed().acquire('c2', [4, 5], { reason: 'no-quorum' });
    expect(searched(split, MUTEX, { triesInform: true }).verdict).toBe('valid');
  });
});

describe('a lease', () => {
  const crashed = (again: number) =>
    new Story().acquire('c1', [0, 2], { leaseMs: 10_000 }).acquire('c2', [again, again]);

  it('may end a hold that was never released, as soon as its lease has run', () => {
    expect(searched(crashed(9), MUTEX, { leases: true }).verdict).toBe('invalid');
    expect(searched(crashed(10), MUTEX, { leases: true }).verdict).toBe('valid');
    expect(searched(crashed(10)).verdict).toBe('invalid');
  });

  it('runs from the instant of the grant: three grants in a row need two whole leases', () => {
    const three = (last: number) =>
      new Story()
        .acquire('c1', [0, 1], { leaseMs: 10_000 })
        .acquire('c2', [0, 11], { leaseMs: 10_000 })
        .acquire('c3', [0, last], { leaseMs: 10_000 });
    expect(searched(three(19), MUTEX, { leases: true }).verdict).toBe('invalid');
    expect(searched(three(20), MUTEX, { leases: true })).toMatchObject({
      verdict: 'valid',
      order: Int32Array.of(0, 1, 2),
    });
  });

  it('does not end a hold whose release succeeded later', () => {
    const story = new Story().acquire('c1', [0, 1], { leaseMs: 2_000 }).acquire('c2', [5, 6]).release('c1', [7, 8]);
    expect(searched(story, MUTEX, { leases: true }).verdict).toBe('invalid');
  });
});

// ------------------------------------------------------------------------------------------------------ all orders

function* permutations(items: readonly number[]): Generator<number[]> {
  if (items.length === 0) yield [];
  for (const first of items) {
    for (const rest of permutations(items.filter((item) => item !== first))) yield [first, ...rest];
  }
}

function* subsets(items: readonly number[]): Generator<number[]> {
  if (items.length === 0) return yield [];
  for (const rest of subsets(items.slice(1))) {
    yield rest;
    yield [items[0]!, ...rest];
  }
}

/** Whether this order is one in time, and the lock steps through it. */
function explains(order: readonly number[], history: KeyHistory, lock: LockModel, reading: Reading): boolean {
  const { operations: ops, callNs, returnNs } = history;
  const inTime = order.every((row, at) =>
    order.slice(at + 1).every((later) => {
      const isItsGrant = ops.op[row] === OP.release && ops.hold[row] === later && ops.outcome[later] === OUTCOME.ok;
      return !isItsGrant && !(returnNs[later]! < callNs[row]!);
    }),
  );
  if (!inTime) return false;
  const model = modelOf(lock);
  let state: unknown = model.init(history);
  return order.every((row) => {
    state = model.step(state, row, history, reading);
    return state !== undefined;
  });
}

function someOrderExplains(history: KeyHistory, lock: LockModel, reading: Reading): boolean {
  const rows = [...history.rows];
  const unknown = rows.filter((row) => isUnknown(history.operations, row));
  const known = rows.filter((row) => !unknown.includes(row));
  for (const chosen of subsets(unknown)) {
    for (const order of permutations([...known, ...chosen])) {
      if (explains(order, history, lock, reading)) return true;
    }
  }
  return false;
}

const RUNS = cases(500);

describe.each(MODELS)('$kind', (lock) => {
  it(`decides ${RUNS} random small histories as trying all orders does, and its orders explain them`, () => {
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(anyOperations(6), readings, (ops, read) => {
        const reading = { ...read, leases: false };
        const history = keyHistory(ops);
        const { verdict, order } = search(modelOf(lock), history, reading, BUDGET);
        expect(verdict).toBe(someOrderExplains(history, lock, reading) ? 'valid' : 'invalid');
        if (order) {
          expect(explains([...order], history, lock, reading)).toBe(true);
          expect([...order]).toEqual(expect.arrayContaining(mustTakeEffect(history)));
        }
        seen[verdict as keyof typeof seen]++;
      }),
      drawn(500),
    );
    // A generator that hardly makes one of these would prove nothing.
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(RUNS / 20);
  });
});

/** Whatever succeeded. */
function mustTakeEffect({ operations: ops, rows }: KeyHistory): number[] {
  return [...rows].filter((row) => ops.outcome[row] === OUTCOME.ok);
}

// --------------------------------------------------------------------------------------------------- budget and size

describe('a budget', () => {
  /** Many who wait at once, for a lock that one of them never gives back. */
  const crowd = (count: number) =>
    new Story(false)
      .times(count, (story, n) => story.acquire(`c${n}`, [n, 1_000]))
      .times(count - 2, (story, n) => story.release(`c${n}`, [1_001 + n, 2_000]));

  it.each([
    ['configurations', { configurations: 20, steps: 1e9 }],
    ['steps', { configurations: 1e9, steps: 200 }],
  ])('of %s that is spent gives no verdict, and says how far it got', (_, budget) => {
    const history = keyOf(crowd(12));
    const result = search(modelOf({ kind: 'semaphore', permits: 10 }), history, STRICT, budget);
    expect(result.verdict).toBe('unknown');
    expect(result.order).toBeUndefined();
    expect(result.note).toMatch(
      /^gave up after \d+ steps and \d+ configurations: the best order explained 10 of 22 operations and stopped before c10's acquire at line 10, the lock held by c0 \(acquire at line 0\) and c1/,
    );
  });

  it('that suffices gives the verdict', () => {
    expect(searched(crowd(12), { kind: 'semaphore', permits: 10 }).verdict).toBe('invalid');
    expect(searched(crowd(12), { kind: 'semaphore', permits: 12 }).verdict).toBe('valid');
  });
});

it('refusals and releases are no alternatives: orders of them are not tried', () => {
  const crowd = new Story()
    .acquire('c0', [0, 1])
    .times(20, (story, n) => story.acquire(`c${n + 1}`, [2, 1_000], { reason: 'held' }))
    .release('c0', [3, 1_000])
    .acquire('c99', [2_000, 2_001])
    .acquire('c98', [2_002, 2_003]);
  const { verdict, steps, reached } = searched(crowd, MUTEX, { triesInform: true });
  expect({ verdict, reached }).toEqual({ verdict: 'invalid', reached: 23 });
  expect(steps).toBeLessThan(100);
});

describe('a long history', () => {
  const simulated = (options: Partial<LockHistory>) =>
    lockHistory({ operations: 10_000, clients: 10, unknown: 0, overlap: false, seed: 1, ...options });

  it('with leases is prepared without a stack of its length', () => {
    const history = simulated({ operations: 300_000, unknown: 0.01 });
    const leased = { ...history, leaseNs: history.leaseNs.map(() => 5e9) };
    const { verdict } = search(modelOf(MUTEX), leased, { ...STRICT, leases: true }, { configurations: 10, steps: 10 });
    expect(verdict).toBe('unknown');
  });

  it.each([
    ['one after another', { operations: 100_000, clients: 1 }],
    ['many waiting', { operations: 20_000, clients: 10 }],
    ['some of unknown outcome', { operations: 20_000, clients: 10, unknown: 0.01 }],
  ])('%s is explained, without a stack of its depth', (_, options) => {
    const history = simulated(options);
    const { verdict, order, steps } = search(modelOf(MUTEX), history, STRICT, BUDGET);
    expect(verdict).toBe('valid');
    // The first to be answered is tried first, which is the usual order.
    expect(steps).toBeLessThan(3 * history.rows.length);
    expect(replayed([...order!], history)).toBe(true);
    const taken = new Set(order);
    expect(taken.size).toBe(order!.length);
    expect(mustTakeEffect(history).filter((row) => !taken.has(row))).toEqual([]);
  });

  it.each([1, 2, 3])(
    'of 10,000 operations with one overlap and 1 % of unknown outcome is refuted in few steps (seed %d)',
    (seed) => {
      const history = simulated({ unknown: 0.01, overlap: true, seed });
      const { verdict, steps, reached } = search(modelOf(MUTEX), history, STRICT, BUDGET);
      expect(verdict).toBe('invalid');
      expect(reached).toBeGreaterThan(9_000);
      // Crashed acquires, of which there are some fifty, would double the configurations each.
      expect(steps).toBeLessThan(500_000);
    },
  );
});

/** In one pass: the lock steps through it, each at its earliest instant and none after its return. */
function replayed(order: readonly number[], history: KeyHistory): boolean {
  const model = modelOf(MUTEX);
  let state: unknown = model.init(history);
  let atNs = 0;
  return order.every((row) => {
    state = model.step(state, row, history, STRICT);
    atNs = Math.max(atNs, history.callNs[row]!);
    return state !== undefined && atNs <= history.returnNs[row]!;
  });
}
