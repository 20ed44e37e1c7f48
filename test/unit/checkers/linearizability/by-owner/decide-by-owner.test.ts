/** A release ends a hold of its owner, whichever that was; random histories: `harness/record/import/against-oracle.test.ts`. */
import { describe, expect, it, test } from 'vitest';
import {
  decideByAnybody,
  decideByOwner,
  decideByThreads,
  decideReentrantFenced,
} from '../../../../../checkers/linearizability/by-owner/decide-by-owner.js';
import type { DecideOptions, Reading } from '../../../../../checkers/linearizability/types.js';
import { MODE } from '../../../../../harness/record/history-table.js';
import type { LockModel } from '../../../../../harness/vocabulary/protocol.js';
import type { SmallOp } from '../brute-force.js';
import { keyHistory } from '../small-histories.js';

const OPTIONS: DecideOptions = { witnesses: 3, search: { configurations: 1_000, steps: 10_000 } };
const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const DENIALS_END: Reading = { ...STRICT, failedReleaseEnds: true };
const MUTEX: LockModel = { kind: 'mutex' };

/** `a+` acquires, `a-` releases, one after the other; `?` unknown, `!` denied. A release names the latest acquire of its client. */
function history(text: string) {
  const ops = text.split(' ').map((word, at): SmallOp => {
    const isUnknown = word[2] === '?';
    const denied = word[2] === '!' ? { outcome: 'fail' as const, reason: 'not-owner' } : { outcome: 'ok' as const };
    return {
      op: word[1] === '+' ? 'acquire' : 'release',
      client: word[0]!,
      call: 1e9 * at,
      ret: isUnknown ? Number.POSITIVE_INFINITY : 1e9 * at + 5e8,
      ...(isUnknown ? { outcome: 'info' } : denied),
    };
  });
  ops.forEach((op, at) => {
    if (op.op === 'release')
      op.hold = ops.findLastIndex((one, place) => place < at && one.op === 'acquire' && one.client === op.client);
  });
  return keyHistory(ops);
}

const verdict = (text: string, model: LockModel, reading: Reading) =>
  decideByOwner(history(text), model, reading, OPTIONS).verdict;

describe('of a mutex', () => {
  test.each([
    ['an acquire of unknown outcome between need not have been granted', 'a+ a+? a- b+', 'valid'],
    ['nor need it be what was released', 'a+? a+ a- b+', 'valid'],
    ['but two releases need two grants', 'a+ a+? a- b+ a-', 'invalid'],
    ['and may have them', 'a+ a+? a- a- b+', 'valid'],
    ['a release of unknown outcome may end a later hold', 'a+ a-? a+ b+', 'invalid'],
    ['once', 'a+ a- a-? a+ b+', 'valid'],
    ['a hold that nothing can have ended goes on', 'a+? a- a+ b+', 'invalid'],
  ])('%s: %s', (_, text, expected) => {
    expect(verdict(text, MUTEX, STRICT)).toBe(expected);
  });
});

describe('of several levels', () => {
  test.each([
    ['"not yours" ends them all', 'a+ a+ a-! b+', DENIALS_END, 'valid'],
    ['and leaves nothing to release', 'a+ a+ a-! a-', DENIALS_END, 'invalid'],
    ['strictly it ends none', 'a+ a+ a-! a- b+', STRICT, 'invalid'],
    ['a release of unknown outcome ends one', 'a+ a+ a-? a- b+', STRICT, 'valid'],
    ['and not two', 'a+ a+ a-? b+', STRICT, 'invalid'],
  ])('%s: %s', (_, text, reading, expected) => {
    expect(verdict(text, { kind: 'reentrant', depth: 2 }, reading)).toBe(expected);
  });
});

test('of a read-write lock an unknown write may come before the reads of its owner', () => {
  const ops = history('a+? a+ a- a-');
  ops.operations.mode.set([MODE.write, MODE.read, MODE.read, MODE.write]);
  expect(decideByOwner(ops, { kind: 'read-write' }, STRICT, OPTIONS).verdict).toBe('valid');
  ops.operations.mode.set([MODE.read, MODE.write, MODE.write, MODE.read]);
  expect(decideByOwner(ops, { kind: 'read-write' }, STRICT, OPTIONS).verdict).toBe('valid');
  ops.operations.mode.set([MODE.write, MODE.read, MODE.write, MODE.write]);
  expect(decideByOwner(ops, { kind: 'read-write' }, STRICT, OPTIONS).verdict).toBe('invalid');
});

test('an owner that takes a lock again keeps a token that was not recorded, not the one before it', () => {
  const verdictOf = (...tokens: number[]) => {
    const ops = history('a+ a- b+ b+');
    ops.operations.token.set(tokens);
    return decideReentrantFenced(ops, { kind: 'reentrant', depth: 2 }, STRICT, OPTIONS).verdict;
  };
  const none = Number.NaN;
  expect(verdictOf(1, none, 2, 2)).toBe('valid');
  expect(verdictOf(1, none, none, 2)).toBe('valid');
  expect(verdictOf(1, none, none, 1)).toBe('invalid');
  expect(verdictOf(2, none, 1, 1)).toBe('invalid');
});

test('of two threads of an owner the denial of one may come before the grant of the other', () => {
  const ops = history('a-! a+ a+');
  ops.callNs.fill(0);
  ops.returnNs.fill(1);
  expect(decideByThreads(ops, { kind: 'mutex' }, DENIALS_END, OPTIONS).verdict).toBe('valid');
});

describe('of a lock that anybody may release', () => {
  test.each([
    ['another one releases', 'a+ b- b+ a-', 'valid'],
    ['a free one is released', 'a+ b- a-', 'invalid'],
    ['a held one is granted', 'a+ b+', 'invalid'],
  ])('%s: %s', (_, text, expected) => {
    expect(decideByAnybody(history(text), { kind: 'semaphore', permits: 1 }, STRICT, OPTIONS).verdict).toBe(expected);
  });
});

it('shows the operations of those who are needed, from when nothing was held', () => {
  const { witnesses, procedure } = decideByOwner(history('c+ c- a+ a- a+? a- a+ b+'), MUTEX, STRICT, OPTIONS);
  expect(procedure).toBe('by owner');
  expect(witnesses.map(({ rows }) => rows)).toEqual([[4, 5, 6, 7]]);
  expect(witnesses[0]!.proof).toBe(
    "No order of these 4 operations of a and b on lock:0 explains the answer to b's acquire at 7.500 s, whichever hold " +
      'each release ended: every one was tried.',
  );
});

it('gives up within its budget', () => {
  const text = 'a+? a-? b+? b-? c+? c-? a+ b+ c+ d+ e+';
  const decision = decideByOwner(history(text), MUTEX, STRICT, {
    witnesses: 1,
    search: { configurations: 1, steps: 2 },
  });
  expect(decision.verdict).toBe('unknown');
  expect(decision.notes[0]).toMatch(/^gave up after \d+ steps: \d operations? can be explained$/);
});

it('leaves what is not open to the fast procedures', () => {
  expect(decideByOwner(history('a+ a- b+ b-? c+?'), MUTEX, STRICT, OPTIONS)).toMatchObject({ procedure: 'cores' });
});
