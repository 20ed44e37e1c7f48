import { expect, test } from 'vitest';
import { deadlineMs } from '../../../../../harness/record/facts/deadlines.js';
import type { Deadlines } from '../../../../../harness/vocabulary/protocol.js';
import { checkInput, clientUp } from '../../../checkers/literal.js';

const said = (deadlines?: Deadlines) => checkInput([clientUp('c1', 'c1', [], deadlines)]).history;

test.each<[Deadlines | undefined, number | undefined]>([
  [{ place: 1_500 }, 1_500],
  [{ place: 'lease' }, 5_000],
  [{ place: 'never' }, Number.POSITIVE_INFINITY],
  [{ permit: 1_500 }, undefined],
  [undefined, undefined],
])('%j: a place that was asked for with a lease of 5 s ends after %s ms', (deadlines, ms) => {
  expect(deadlineMs(said(deadlines), 'place', 5_000)).toBe(ms);
});

test('permits end by a deadline of their own', () => {
  expect(deadlineMs(said({ place: 'lease', permit: 7 }), 'permit', 5_000)).toBe(7);
});

test('nothing is known before a client came up', () => {
  expect(deadlineMs(checkInput([]).history, 'place', 5_000)).toBeUndefined();
});
