/** What a search finds is told with as few operations as are impossible by themselves, or with an order that explains all. */
import { describe, expect, it } from 'vitest';
import { searched } from '../../../../checkers/linearizability/searched.js';
import type { Reading, SearchBudget } from '../../../../checkers/linearizability/types.js';
import { Story } from '../build.js';
import { keyOf } from './key-of.js';

const STRICT: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const BUDGET: SearchBudget = { configurations: 1e6, steps: 1e8 };
const found = (story: Story, reading: Partial<Reading> = {}, budget = BUDGET) =>
  searched(keyOf(story), { kind: 'mutex' }, { ...STRICT, ...reading }, budget);

/** One after the other, from the time on: each with its release. */
const sections = (story: Story, from: number, count: number) => {
  for (let n = 0; n < count; n++)
    story.acquire('c1', [from + n, from + n + 0.1]).release('c1', [from + n + 0.5, from + n + 0.6]);
  return story;
};

describe('what is impossible', () => {
  it('is cut down to the two that held at once, with what ended them, wherever they stand among others', () => {
    for (const before of [0, 1, 5, 8]) {
      const story = sections(new Story(), 1, before);
      story
        .acquire('c1', [20, 20.1])
        .acquire('c2', [20.2, 20.3])
        .release('c2', [20.4, 20.5])
        .release('c1', [20.6, 20.7]);
      const first = 2 * before;
      expect(found(sections(story, 30, 6))).toEqual({
        verdict: 'invalid',
        rows: [first, first + 1, first + 2, first + 3],
      });
    }
  });

  it('keeps every hold where tries inform, and of the tries only what proves it', () => {
    // Refused while nobody held; another one while c1 did.
    const story = new Story()
      .acquire('c1', [1, 1.1])
      .acquire('c2', [1.2, 1.3], { reason: 'held' })
      .release('c1', [2, 2.1])
      .acquire('c3', [3, 3.1], { reason: 'held' })
      .acquire('c2', [4, 4.1], { reason: 'held' });
    expect(found(story)).toMatchObject({ verdict: 'valid' });
    const informed = found(story, { triesInform: true });
    expect(informed).toMatchObject({ verdict: 'invalid' });
    const { rows } = informed as { rows: number[] };
    expect(rows).toHaveLength(3);
    expect(rows).toEqual(expect.arrayContaining([0, 2]));
    expect([3, 4]).toContain(rows.at(-1));
  });

  it('needs no release where none came', () => {
    const story = sections(new Story(), 1, 4).acquire('c1', [20, 20.1]).acquire('c2', [20.2, 20.3]);
    const { rows } = found(story) as { rows: number[] };
    expect(rows).toEqual([8, 9]);
  });
});

describe('what is possible, or was not decided', () => {
  it('has an order with instants', () => {
    const valid = found(sections(new Story(), 1, 2));
    expect(valid.verdict).toBe('valid');
  });

  it('has the reason why not', () => {
    const story = sections(new Story(), 1, 3);
    expect(found(story, {}, { configurations: 1, steps: 1 })).toEqual({
      verdict: 'unknown',
      notes: [expect.stringMatching(/\d/)],
    });
  });
});
