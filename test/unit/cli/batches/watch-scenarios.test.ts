import { expect, test } from 'vitest';
import { stillFailing } from '../../../../cli/batches/watch-scenarios.js';
import { scenarios } from '../../../../scenarios/index.js';

const [one, two] = [scenarios['only-one-holds']!, scenarios['only-the-owner-releases']!];
const row = ({ name }: { name: string }, went: Parameters<typeof stillFailing>[2][number]['went']) => ({
  scenario: name,
  went,
});

test.each(['violated', 'otherwise', 'could-not-run'] as const)('what was %s is played first', (went) => {
  expect(stillFailing([one, two], [], [row(one, 'held'), row(two, went)])).toEqual([two]);
});

test('of what cannot be told only what had failed', () => {
  const rows = [row(one, 'cannot-tell'), row(two, 'cannot-tell')];
  expect(stillFailing([one, two], [], rows)).toEqual([]);
  expect(stillFailing([one, two], [two], rows)).toEqual([two]);
});

test('what failed on one of several servers', () => {
  expect(stillFailing([one], [one], [row(one, 'held'), row(one, 'violated')])).toEqual([one]);
});

test('what was not played stays no failure', () => {
  expect(stillFailing([one, two], [one], [row(one, 'as-written')])).toEqual([]);
});
