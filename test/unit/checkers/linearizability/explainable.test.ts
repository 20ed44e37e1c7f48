/** What a run's report says of the other readings of its history. */
import { expect, it } from 'vitest';
import { readingsOf } from '../../../../checkers/linearizability/explainable.js';
import type { CheckInput } from '../../../../harness/vocabulary/run.js';
import { Story } from '../build.js';

it('each has its verdict, how that was come by, and at most three proofs', () => {
  const story = new Story();
  for (let n = 0; n < 10; n += 2)
    story
      .acquire('c1', [n + 1, n + 1.1])
      .acquire('c2', [n + 1.2, n + 1.3])
      .release('c1', [n + 1.4, n + 1.5])
      .release('c2', [n + 1.6, n + 1.7]);
  let between = 0;
  const readings = readingsOf(story.input(), () => between++);
  expect(readings.map(({ reading, title, verdict, procedure }) => [reading, title, verdict, procedure])).toEqual([
    ['strict', 'strict', 'invalid', 'cores'],
    ['failed-release-ends', expect.any(String), 'invalid', 'cores'],
  ]);
  const [strict] = readings;
  expect(strict!.found).toBe(5);
  expect(strict!.proofs).toHaveLength(3);
  expect(strict!.proofs[0]).toContain('lock:0');
  expect(strict!.notes).toEqual([]);
  expect(between).toBeGreaterThan(0);
});

it('a refused try shows nothing: keys of clients that died refuse while the lock is free', () => {
  const story = new Story().acquire('c1', [1, 2]).release('c1', [3, 4]).acquire('c2', [5, 6], { reason: 'held' });
  expect(readingsOf(story.input()).map(({ verdict }) => verdict)).toEqual(['valid', 'valid']);
});

it('a mistake of the procedure is told, and decides nothing', () => {
  const history = {
    get operations(): never {
      throw new Error('a certificate does not hold');
    },
  };
  expect(readingsOf({ ...new Story().input(), history } as unknown as CheckInput)).toEqual([
    {
      ...{ reading: 'all', title: 'all readings', verdict: 'unknown', procedure: 'none', found: 0, proofs: [] },
      notes: ['a certificate does not hold'],
    },
  ]);
});
