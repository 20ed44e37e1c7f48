/** What the matchers say of each verdict, and that "cannot tell" passes nothing. */
import { expect, test } from 'vitest';
import { matchers } from '../../../../cli/api/matchers.js';
import type { TortureResult } from '../../../../cli/api/torture.js';

type Violation = TortureResult['violations'][number];
type On = NonNullable<Violation['blame']>['on'];

const violation = (cause: string, on: On): Violation => ({
  class: on === 'lease' ? 'stale' : 'exclusion',
  kind: 'overlap',
  key: 'lock:0',
  fromNs: 1,
  untilNs: 2,
  clients: ['c1', 'c2'],
  what: 'c1 and c2 both held lock:0',
  proof: 'c1 certainly held it, and so did c2',
  cause,
  why: 'somebody else released it',
  blame: { on, theory: 'compare, then delete, in one step' },
  known: null,
});

const result = (verdict: TortureResult['verdict'], ...violations: Violation[]): TortureResult => ({
  version: 2,
  runId: 'r',
  verdict,
  exitStatus: verdict === 'held' ? 0 : verdict === 'violated' ? 1 : 2,
  words: null,
  headline: `it is ${verdict}`,
  reasons: verdict === 'unknown' ? ['too few holds'] : [],
  strength: null,
  virtualTime: null,
  found: {},
  violations,
  ownMistakes:
    verdict === 'unknown' || violations.some(({ blame }) => blame!.on === 'unexplained')
      ? 'unknown'
      : violations.some(({ blame }) => blame!.on === 'lock')
        ? 'found'
        : 'none',
  checkers: {},
  stats: {},
  folder: '/runs/r',
  report: '/runs/r/report.html',
  reproduce: 'npx lock-torture --seed 1',
});

const held = result('held');
const broken = result('violated', violation('released-by-other', 'lock'));
const stale = result('violated', violation('client-paused', 'lease'));
const open = result('violated', violation('unexplained', 'unexplained'));
const unknown = result('unknown');

/** For `expect(...)` and `expect(...).not`: whether the test goes on. */
const passes = (name: keyof typeof matchers, received: unknown, ...args: []) =>
  [false, true].map((isNot) => matchers[name].call({ isNot }, received, ...args).pass !== isNot);

test.each([
  ['toHold', held, [true, false]],
  ['toHold', broken, [false, true]],
  ['toHold', unknown, [false, false]],
  ['toHaveNoLockMistakes', held, [true, false]],
  ['toHaveNoLockMistakes', stale, [true, false]],
  ['toHaveNoLockMistakes', broken, [false, true]],
  ['toHaveNoLockMistakes', open, [false, false]],
  ['toHaveNoLockMistakes', unknown, [false, false]],
  // More were counted than are explained, or a checker cannot tell.
  ['toHaveNoLockMistakes', { ...stale, ownMistakes: 'unknown' }, [false, false]],
  ['toBreak', broken, [true, false]],
  ['toBreak', held, [false, true]],
  ['toBreak', unknown, [false, false]],
] as const)('%s, case %#', (name, received, expected) => {
  expect(passes(name, received)).toEqual(expected);
});

test('toBreak with a cause or a class', () => {
  expect(matchers.toBreak.call({}, broken, { cause: 'released-by-other', class: 'exclusion' }).pass).toBe(true);
  expect(matchers.toBreak.call({}, broken, { cause: 'clock-jumped' }).pass).toBe(false);
  expect(matchers.toBreak.call({}, stale, { class: 'exclusion' }).pass).toBe(false);
});

test('the message tells the violation that decided, and the command that repeats it', () => {
  const both = result('violated', violation('client-paused', 'lease'), violation('released-by-other', 'lock'));
  const message = matchers.toHaveNoLockMistakes.call({}, both).message();
  expect(message.split('\n')).toEqual([
    "expected no mistake of the lock's own",
    '',
    'VIOLATED',
    'it is violated',
    '',
    "exclusion, the lock's mistake: c1 and c2 both held lock:0",
    '  Proof: c1 certainly held it, and so did c2',
    '  Why:   somebody else released it [released-by-other]',
    '  Whose: compare, then delete, in one step',
    '',
    'Report: /runs/r/report.html',
    'Repeat: npx lock-torture --seed 1',
  ]);
  const words = { verdict: 'VIOLATED by the lock', lock: 'its own.', deployment: 'kept all.', leases: 'none.' };
  expect(matchers.toHold.call({}, { ...broken, words }).message()).toContain(
    'VIOLATED by the lock\nLock: its own.\nDeployment: kept all.\nLeases: none.\nit is violated\n',
  );
  expect(matchers.toHold.call({}, unknown).message()).toMatch(/^expected the lock to hold, and that cannot be told\n/);
});

test.each([
  [
    { cause: 'failover-lost-writes' },
    /^toBreak\(\{"cause":"failover-lost-writes"\}\): "failover-lost-writes" is no cause; did you mean failover-lost-write\?/,
  ],
  [
    { class: 'exclusive' },
    /: "exclusive" is no class; did you mean exclusion\? there are exclusion, harm, stale, liveness$/,
  ],
  [{ causes: 'released-by-other' }, /: "causes" is neither cause nor class$/],
  ['released-by-other', /^toBreak\("released-by-other"\): expected \{ cause, class \}, or nothing$/],
  [null, /: expected \{ cause, class \}, or nothing$/],
])('toBreak(%j), which nothing could ever be, is refused in one line, and so is its .not', (expected, line) => {
  for (const isNot of [false, true])
    expect(() => matchers.toBreak.call({ isNot }, broken, expected as object)).toThrow(line);
});

test('anything but a result is refused in one line', () => {
  expect(() => matchers.toHold.call({}, Promise.resolve(held))).toThrow(
    'toHold() is for what torture(), scenario() and check() resolve with (a promise: await it)',
  );
  expect(() => matchers.toBreak.call({}, undefined)).toThrow(/^toBreak\(\) is for what /);
});
