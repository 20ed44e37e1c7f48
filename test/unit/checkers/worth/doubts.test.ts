/** What the machine and the harness did that leaves a finding open: each bound of it, by itself. */
import { describe, expect, it } from 'vitest';
import { Doubts } from '../../../../checkers/worth/doubts.js';
import { holdsOf } from '../../../../harness/record/facts/holds.js';
import { overlapsOf } from '../../../../harness/record/facts/overlaps.js';
import { Story } from '../build.js';

const doubts = (story: Story) => new Doubts(story.input());

/** What is said of the only overlap of a story. */
function aboutOnly(story: Story): string | undefined {
  const input = story.input();
  const overlaps = overlapsOf([...holdsOf(input.history)], input.model);
  expect(overlaps).toHaveLength(1);
  return new Doubts(input).about(overlaps[0]!);
}

describe('a death that was noticed late', () => {
  const died = (stalledAt: number, ms: number) =>
    aboutOnly(
      new Story()
        .grant('c1', 1)
        .grant('c2', 2.5)
        .release('c2', 3)
        .down('c1', 3.2)
        .disturbed(stalledAt, 'harness-stall', ms),
    );

  it('leaves the overlap open where the harness stood still from before it until the death was seen', () => {
    expect(died(2, 1_200)).toMatch(/stood still for 1\.2 s from 2\.000 s on, and c1 may have died meanwhile/);
  });

  it('and not where the harness ran again long before, or stood still only once they overlapped', () => {
    expect(died(2, 300)).toBeUndefined();
    expect(died(2.6, 600)).toBeUndefined();
  });
});

it('adds up how long each answer of a hold waited to be read while the harness stood still', () => {
  // The lease ends at 7 s; the hold lasts for 0.6 s longer, and each of the two answers was read 0.4 s late.
  const story = (...stalledAt: number[]) =>
    stalledAt.reduce(
      (told, at) => told.disturbed(at, 'harness-stall', 400),
      new Story()
        .grant('c1', 1, { grantSent: 1, read: 1.5 })
        .extend('c1', 2, 5_000, { read: 2.5 })
        .grant('c2', 7.1)
        .release('c1', 7.6)
        .release('c2', 9),
    );
  expect(aboutOnly(story(1.01, 2.01))).toMatch(/stood still for 900 ms before it read that c1 held/);
  expect(aboutOnly(story(1.01))).toBeUndefined();
  expect(aboutOnly(story(2.01))).toBeUndefined();
});

it('counts steps of the clock by their size where a lock could not be acquired again, also when they cancel out', () => {
  const stepped = (...ms: number[]) =>
    doubts(ms.reduce((story, by, n) => story.disturbed(n + 1, 'wall-clock-step', by), new Story())).aboutDeadlock();
  expect(stepped(600, -600)).toMatch(/was stepped by 600 ms at about 1\.000 s and once more/);
  expect(stepped(-1_200)).toMatch(/was stepped by -1200 ms/);
  expect(stepped(400, -500)).toBeUndefined();
});
