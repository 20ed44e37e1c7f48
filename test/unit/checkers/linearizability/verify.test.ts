/** A check of certificates that accepts everything would make every decision look proven: here it must refuse. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import { modelOf } from '../../../../checkers/linearizability/models/index.js';
import type { KeyHistory, Reading } from '../../../../checkers/linearizability/types.js';
import { verify } from '../../../../checkers/linearizability/verify.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn, SEED } from '../../../support/drawn.js';
import { ns, Story } from '../build.js';
import { keyOf } from './key-of.js';
import { keyHistory, MODELS, smallHistories } from './small-histories.js';

const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const OPTIONS = { witnesses: 1, search: { configurations: 100_000, steps: 1e6 } };

const secondsNs = (seconds: number[]) => Float64Array.from(seconds, ns);

describe('verify', () => {
  const history = keyOf(
    new Story()
      .acquire('c1', [0, 2], { token: 1 })
      .acquire('c2', [1, 9], { token: 2 })
      .release('c1', [4, 6])
      .release('c2', [10, 11]),
  );
  const check = (order: number[], points: number[], model: LockModel = { kind: 'fenced' }, reading = STRICT) =>
    verify(history, model, reading, { order: Int32Array.from(order), pointsNs: secondsNs(points) });

  test('accepts what explains the history', () => {
    expect(check([0, 2, 1, 3], [2, 4, 9, 10])).toBeUndefined();
    expect(check([0, 2, 1, 3], [0, 5, 5, 11])).toBeUndefined();
  });

  test.each([
    ['an operation that succeeded is missing', [0, 2, 1], [2, 4, 9], 'row 3 succeeded and is not there'],
    ['one is there twice', [0, 2, 2, 1, 3], [2, 4, 4, 9, 10], 'row 2 is there twice'],
    ['one is of no key', [7, 0, 2, 1, 3], [0, 2, 4, 9, 10], "row 7 is none of this key's"],
    ['an instant is outside its interval', [0, 2, 1, 3], [2, 7, 9, 10], 'row 2 took effect outside its interval'],
    ['time goes back', [0, 2, 1, 3], [2, 6, 5, 10], 'row 1 took effect before the one before it'],
    ['it is granted while held', [0, 1, 2, 3], [1, 4, 5, 10], 'row 1 would have been answered otherwise'],
    ['tokens fall', [1, 3, 0, 2], [2, 10, 10, 10], 'row 0 took effect outside its interval'],
    ['instants are missing', [0, 2, 1, 3], [2, 4, 9], 'not every row has an instant'],
  ])('refuses where %s', (_, order, points, error) => {
    expect(check(order, points)).toBe(error);
  });

  test('refuses a token that does not rise', () => {
    const falling = keyOf(
      new Story().acquire('c1', [0, 2], { token: 2 }).release('c1', [3, 4]).acquire('c2', [5, 9], { token: 1 }),
    );
    const order = { order: Int32Array.of(0, 1, 2), pointsNs: secondsNs([2, 3, 9]) };
    expect(verify(falling, { kind: 'fenced' }, STRICT, order)).toBe('row 2 would have been answered otherwise');
    expect(verify(falling, { kind: 'mutex' }, STRICT, order)).toBeUndefined();
  });

  test('a lease may end a hold when it has run, not before, and not one that was released later', () => {
    const leased = () => new Story().acquire('c1', [0, 2], { leaseMs: 5_000 }).acquire('c2', [4, 8]);
    const reading = { ...STRICT, leases: true };
    const check = (rows: number[], points: number[], story: Story) =>
      verify(keyOf(story), { kind: 'mutex' }, reading, {
        order: Int32Array.from(rows),
        pointsNs: secondsNs(points),
      });
    expect(check([0, 1], [2, 7], leased())).toBeUndefined();
    expect(check([0, 1], [2, 6], leased())).toBe('row 1 would have been answered otherwise');
    expect(check([0, 1, 2], [2, 7, 9], leased().release('c1', [9, 10]))).toBe(
      'row 1 would have been answered otherwise',
    );
  });

  test('a refused try that informs must be placed at an instant when a client held', () => {
    const tried = keyOf(new Story().acquire('c1', [0, 2]).acquire('c2', [1, 5], { reason: 'held' }));
    const check = (order: number[], points: number[]) =>
      verify(
        tried,
        { kind: 'mutex' },
        { ...STRICT, triesInform: true },
        {
          order: Int32Array.from(order),
          pointsNs: secondsNs(points),
        },
      );
    expect(check([0, 1], [2, 5])).toBeUndefined();
    expect(check([1, 0], [1, 2])).toBe('row 1 would have been answered otherwise');
    expect(check([0], [2])).toBe('row 1 was refused by a holder and is not there');
  });

  test('a denial that ends holds has ended the one it names', () => {
    const denied = keyOf(
      new Story().acquire('c1', [0, 2]).release('c1', [3, 4], { reason: 'not-owner' }).release('c1', [6, 7]),
    );
    const order = { order: Int32Array.of(0, 2), pointsNs: secondsNs([2, 6]) };
    expect(verify(denied, { kind: 'mutex' }, STRICT, order)).toBeUndefined();
    expect(verify(denied, { kind: 'mutex' }, { ...STRICT, failedReleaseEnds: true }, order)).toBe(
      'row 1 must have ended its hold',
    );
  });
});

test.each(MODELS)(
  `verify agrees with the model on disturbed orders: $kind (LOCK_TORTURE_TEST_SEED=${SEED})`,
  (model) => {
    const seen = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(smallHistories(model, { most: 12, leases: false }), fc.nat(99), fc.nat(99), (ops, from, to) => {
        const history = keyHistory(ops);
        const { linearization } = decide(history, model, STRICT, OPTIONS);
        if (!linearization || linearization.order.length < 2) return;
        const order = [...linearization.order];
        const [moved] = order.splice(from % order.length, 1);
        order.splice(to % (order.length + 1), 0, moved!);
        const points = earliest(history, order);
        if (!points) return;
        const error = verify(history, model, STRICT, { order: Int32Array.from(order), pointsNs: points });
        const isRight = isAccepted(history, model, order);
        expect({ error, isRight: error === undefined }).toEqual({ error, isRight });
        seen[isRight ? 'right' : 'wrong']++;
      }),
      drawn(500),
    );
    expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(cases(10));
  },
);

/** Instants for this order, if there are any. */
function earliest({ callNs, returnNs }: KeyHistory, order: readonly number[]): Float64Array | undefined {
  let lastNs = 0;
  const points = Float64Array.from(order, (row) => {
    lastNs = Math.max(lastNs, callNs[row]!);
    return lastNs;
  });
  return order.every((row, at) => points[at]! <= returnNs[row]!) ? points : undefined;
}

function isAccepted(history: KeyHistory, kind: LockModel, order: readonly number[]): boolean {
  const model = modelOf(kind);
  let state: unknown = model.init(history);
  for (const row of order) {
    if (state !== undefined) state = model.step(state, row, history, STRICT);
  }
  return state !== undefined;
}
