/** A check of certificates that accepts everything would make every decision look proven: here it must refuse. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import { modelOf } from '../../../../checkers/linearizability/models/index.js';
import type { KeyHistory, Reading } from '../../../../checkers/linearizability/types.js';
import { BadLinearization, verify } from '../../../../checkers/linearizability/verify.js';
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

/** What is wrong with these rows at these seconds; undefined: nothing. */
function wrong(
  history: KeyHistory,
  order: readonly number[],
  points: number[],
  { model = { kind: 'mutex' }, ...reading }: { model?: LockModel } & Partial<Reading> = {},
): string | undefined {
  const linearization = { order: Int32Array.from(order), pointsNs: secondsNs(points) };
  return verify(history, model, { ...STRICT, ...reading }, linearization);
}

describe('a key whose rows are not the first', () => {
  const story = new Story()
    .acquire('c1', [0, 1], { key: 'other' })
    .release('c1', [2, 3])
    .acquire('c2', [4, 5])
    .release('c2', [6, 7])
    .acquire('c3', [8, 9]);
  const all = keyOf(story);
  const history = { ...all, rows: Int32Array.of(2, 3, 4) };

  test('is explained by its own', () => {
    expect(wrong(history, [2, 3, 4], [5, 6, 9])).toBeUndefined();
    expect(wrong(history, [2, 4], [5, 9])).toBe('row 3 succeeded and is not there');
    expect(wrong(history, [2, 3, 3, 4], [5, 6, 6, 9])).toBe('row 3 is there twice');
    expect(wrong(history, [2, 4, 3], [5, 9, 9])).toBe('row 3 took effect outside its interval');
  });

  test('and by none of another, be it before or after', () => {
    expect(wrong(history, [0, 1, 2, 3, 4], [0, 2, 5, 6, 9])).toBe("row 0 is none of this key's");
    expect(wrong({ ...all, rows: Int32Array.of(0, 1) }, [0, 1, 2], [0, 2, 4])).toBe("row 2 is none of this key's");
    // Among the rows in between as well.
    const beside = new Story().acquire('c1', [0, 1]).acquire('c2', [2, 3], { key: 'other' }).release('c1', [4, 5]);
    const outer = { ...keyOf(beside), rows: Int32Array.of(0, 2) };
    expect(wrong(outer, [0, 2], [1, 4])).toBeUndefined();
    expect(wrong(outer, [0, 1, 2], [1, 3, 4])).toBe("row 1 is none of this key's");
  });

  test('with leases, and denials', () => {
    const leased = new Story()
      .acquire('c1', [0, 1], { key: 'other' })
      .release('c1', [2, 3])
      .acquire('c2', [4, 5], { leaseMs: 2_000 })
      .acquire('c3', [6, 9])
      .release('c2', [10, 11], { hold: 1, reason: 'not-owner' });
    const rows = { ...keyOf(leased), rows: Int32Array.of(2, 3, 4) };
    const both = { leases: true, failedReleaseEnds: true };
    expect(wrong(rows, [2, 3], [5, 7], both)).toBeUndefined();
    expect(wrong(rows, [2, 3], [5, 6.5], both)).toBe('row 3 would have been answered otherwise');
  });
});

describe('an instant', () => {
  test('is not before the call', () => {
    const history = keyOf(new Story().acquire('c1', [1, 2]));
    expect(wrong(history, [0], [1])).toBeUndefined();
    expect(wrong(history, [0], [0.5])).toBe('row 0 took effect outside its interval');
  });
});

describe('nested grants', () => {
  const nested = (times: number) =>
    keyOf(new Story().times(times, (story, n) => story.acquire('c1', [2 * n, 2 * n + 1])));
  const twice: LockModel = { kind: 'reentrant', depth: 2 };

  test('are as many as the lock allows', () => {
    expect(wrong(nested(2), [0, 1], [0, 2], { model: twice })).toBeUndefined();
    expect(wrong(nested(3), [0, 1, 2], [0, 2, 4], { model: twice })).toBe('row 2 would have been answered otherwise');
  });
});

describe('a refused try', () => {
  const tried = (reason: string) => keyOf(new Story().acquire('c1', [0, 2]).acquire('c2', [3, 5], { reason }));

  test('says that somebody holds only where the reading has it so, and that was the reason', () => {
    expect(wrong(tried('held'), [0], [2])).toBeUndefined();
    expect(wrong(tried('held'), [0], [2], { triesInform: true })).toBe(
      'row 1 was refused by a holder and is not there',
    );
    expect(wrong(tried('unreachable'), [0], [2], { triesInform: true })).toBeUndefined();
    const released = keyOf(new Story().acquire('c1', [0, 2]).release('c1', [3, 4], { reason: 'held' }));
    expect(wrong(released, [0], [2], { triesInform: true })).toBeUndefined();
  });
});

describe('leases', () => {
  const leased = (mode: 'read' | 'write', next: 'read' | 'write') =>
    keyOf(new Story().acquire('c1', [0, 2], { leaseMs: 5_000, mode }).acquire('c2', [4, 8], { mode: next }));
  const model: LockModel = { kind: 'read-write' };

  test('a writer’s ends for readers, a reader’s for a writer, and readers need none', () => {
    const late = 'row 1 would have been answered otherwise';
    expect(wrong(leased('write', 'read'), [0, 1], [2, 7], { model, leases: true })).toBeUndefined();
    expect(wrong(leased('write', 'read'), [0, 1], [2, 6], { model, leases: true })).toBe(late);
    expect(wrong(leased('read', 'write'), [0, 1], [2, 7], { model, leases: true })).toBeUndefined();
    expect(wrong(leased('read', 'write'), [0, 1], [2, 6], { model, leases: true })).toBe(late);
    expect(wrong(leased('read', 'read'), [0, 1], [2, 4], { model, leases: true })).toBeUndefined();
    expect(wrong(leased('write', 'read'), [0, 1], [2, 7], { model })).toBe(late);
  });

  test('a reader beside a writer whose lease is over ends nobody else’s', () => {
    const story = new Story()
      .acquire('c1', [0, 1], { leaseMs: 3_000, mode: 'read' })
      .acquire('c2', [2, 9], { mode: 'write' })
      .release('c1', [10, 11]);
    // The release in the order ends it, and no lease may.
    expect(wrong(keyOf(story), [0, 1, 2], [1, 9, 10], { model, leases: true })).toBe(
      'row 1 would have been answered otherwise',
    );
  });
});

describe('a denial that ends holds', () => {
  const ends = { failedReleaseEnds: true };
  const must = 'row 1 must have ended its hold';

  test('is none where it reached no server', () => {
    const story = (reason: string) => keyOf(new Story().acquire('c1', [0, 2]).release('c1', [3, 4], { reason }));
    expect(wrong(story('not-owner'), [0], [2], ends)).toBe(must);
    expect(wrong(story('not-owner'), [0, 1], [2, 3], ends)).toBeUndefined();
    expect(wrong(story('not-owner'), [0], [2])).toBeUndefined();
    expect(wrong(story('unreachable'), [0], [2], ends)).toBeUndefined();
  });

  test('ends an unknown acquire only if that had taken effect when it was called', () => {
    const story = keyOf(new Story().acquire('c1', [0]).release('c1', [3, 4], { reason: 'not-owner' }));
    expect(wrong(story, [0], [3], ends)).toBeUndefined();
    expect(wrong(story, [0], [2.9], ends)).toBe(must);
    // Of one that was answered the caller knew when it asked.
    const known = keyOf(new Story().acquire('c1', [0, 9]).release('c1', [3, 4], { reason: 'not-owner' }));
    expect(wrong(known, [0], [5], ends)).toBe(must);
  });

  test('whose hold was over by its lease ends nothing', () => {
    const story = keyOf(
      new Story().acquire('c1', [0, 2], { leaseMs: 3_000 }).release('c1', [4, 6], { reason: 'not-owner' }),
    );
    expect(wrong(story, [0], [2], { ...ends, leases: true })).toBeUndefined();
    expect(wrong(story, [0], [2], ends)).toBe(must);
  });

  test('leaves room for the next', () => {
    const story = keyOf(
      new Story().acquire('c1', [0, 2]).release('c1', [3, 4], { reason: 'not-owner' }).acquire('c2', [5, 6]),
    );
    expect(wrong(story, [0, 1, 2], [2, 3, 6], ends)).toBeUndefined();
    expect(wrong(story, [0, 1, 2], [2, 3, 6])).toBe('row 2 would have been answered otherwise');
  });
});

test('an order that does not hold is a bug of the tool, told with its key', () => {
  const { message } = new BadLinearization(keyOf(new Story().acquire('c1', [0, 1])), 'row 0 is there twice');
  expect(message).toBe('bug in lock-torture: the linearization found for lock:0 does not hold: row 0 is there twice');
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
