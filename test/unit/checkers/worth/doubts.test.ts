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

describe('a step of the clock', () => {
  // The first grant's lease ends at 6 s, with a margin of 7 ms; the second comes at 5 s, so clocks must have moved by 993 ms.
  const overlap = (...steps: [at: number, ms: number][]) =>
    aboutOnly(
      steps.reduce(
        (story, [at, ms]) => story.disturbed(at, 'wall-clock-step', ms),
        new Story().grant('c1', 1.001, { grantSent: 1 }).grant('c2', 5).release('c2', 5.5).release('c1', 5.8),
      ),
    );

  it('leaves an overlap open that it can have made, whichever way it went', () => {
    expect(overlap([2, 1_000])).toBe("the machine's own clock was stepped by 1000 ms at about 2.000 s");
    expect(overlap([2, -1_000])).toMatch(/was stepped by -1000 ms/);
    expect(overlap([2, 500], [3, 500])).toMatch(/by 500 ms at about 2\.000 s and once more/);
    expect(overlap([2, 400], [3, 400], [4, 400])).toMatch(/at about 2\.000 s and 2 more times/);
  });

  it('and none that it is too small for, or came too early or too late for', () => {
    expect(overlap([2, 980])).toBeUndefined();
    expect(overlap([2, 996])).toMatch(/stepped/);
    expect(overlap([0.2, 5_000])).toBeUndefined();
    expect(overlap([5.2, 5_000])).toBeUndefined();
    // Less than NTP slews is none.
    expect(overlap(...Array.from({ length: 300 }, (_, n): [number, number] => [2 + n / 1_000, 4.9]))).toBeUndefined();
  });

  it('leaves a stale holder open that it can have kept at work for so long', () => {
    const stale = (ms: number) =>
      aboutOnly(
        new Story()
          .grant('c1', 1, { grantSent: 1 })
          .disturbed(3, 'wall-clock-step', ms)
          .grant('c2', 6.1)
          .release('c1', 6.5)
          .release('c2', 7),
      );
    expect(stale(510)).toMatch(/stepped by 510 ms/);
    expect(stale(480)).toBeUndefined();
  });

  it('leaves it open whether a run held, and whatever it was that stepped', () => {
    const passing = (ms: number) => doubts(new Story().disturbed(1, 'wall-clock-step', ms)).aboutPassing();
    expect(passing(-5)).toBe(
      "leases were counted by the machine's own clock, which was stepped by -5 ms at about 1.000 s",
    );
    expect(passing(4)).toBeUndefined();
    expect(doubts(new Story().disturbed(1, 'harness-stall', 9_000)).aboutPassing()).toBeUndefined();
  });

  it('is counted between two times, by its size', () => {
    const stepped = doubts(new Story().disturbed(1, 'wall-clock-step', 300).disturbed(3, 'wall-clock-step', -200));
    expect(stepped.steppedMs(0, 4e9)).toBe(500);
    expect(stepped.steppedMs(2e9, 4e9)).toBe(200);
    expect(stepped.steppedMs(0, 2e9)).toBe(300);
    expect(stepped.steppedMs(1.5e9, 2.5e9)).toBe(0);
  });
});

describe('a harness that stood still', () => {
  it('leaves open whether a client that tried was run for long enough', () => {
    const trying = (...stalls: [at: number, ms: number][]) =>
      doubts(stalls.reduce((story, [at, ms]) => story.disturbed(at, 'harness-stall', ms), new Story())).aboutTrying(
        2e9,
        6e9,
      );
    expect(trying([3, 1_000])).toBe('the harness stood still for 1 s while it was tried, from 3.000 s on');
    expect(trying([2.5, 600], [4, 400])).toMatch(/for 1 s while it was tried, from 2\.500 s on/);
    expect(trying([3, 990])).toBeUndefined();
    // Before it began to try, and after that.
    expect(trying([0.5, 1_400])).toBeUndefined();
    expect(trying([6.1, 5_000])).toBeUndefined();
    expect(trying([1, 1_200])).toMatch(/stood still/);
  });

  it('leaves a place in a queue open, and so does a step of the clock', () => {
    const order = (story: Story) => doubts(story).aboutOrder(2e9, 6e9);
    expect(order(new Story().disturbed(3, 'harness-stall', 200).disturbed(4, 'harness-stall', 100))).toBe(
      'the harness stood still for 100 ms from 4.000 s on',
    );
    expect(order(new Story().disturbed(1, 'harness-stall', 200).disturbed(7, 'harness-stall', 200))).toBeUndefined();
    expect(order(new Story().disturbed(3, 'wall-clock-step', 200))).toBe(
      "the machine's own clock was stepped by 200 ms at about 3.000 s",
    );
    expect(order(new Story().disturbed(7, 'wall-clock-step', 200))).toBeUndefined();
  });

  const late = (at: number, ms: number, scenario = false) => {
    // The lease ends at 6 s; the release is sent at 6.4.
    const story = new Story()
      .grant('c1', 1, { grantSent: 1 })
      .grant('c2', 6.1)
      .release('c1', 6.401, { sent: 6.4 })
      .release('c2', 7)
      .disturbed(at, 'harness-stall', ms);
    return aboutOnly(scenario ? story.configured({ scenario: 'a-play' }) : story);
  };

  it('when it was to end a hold leaves that open, and not where it ran again before the lease was over, or stood still after', () => {
    expect(late(5.8, 500)).toBe("the harness stood still for 500 ms from 5.800 s on, when it had to end c1's hold");
    expect(late(6.3, 50)).toMatch(/when it had to end/);
    expect(late(5, 900)).toBeUndefined();
    expect(late(6.45, 300)).toBeUndefined();
  });

  it('is no doubt about a play, which ends holds when it says so', () => {
    expect(late(5.8, 500, true)).toBeUndefined();
  });

  it('never leaves exclusion open, of which stamps are the clients’ own', () => {
    const both = new Story()
      .grant('c1', 1)
      .grant('c2', 2)
      .release('c2', 2.5)
      .release('c1', 3)
      .disturbed(1.5, 'harness-stall', 2_000);
    expect(aboutOnly(both)).toBeUndefined();
  });
});

describe('a client that ended by itself', () => {
  const ended = (reason: string, ranAt?: number) => {
    const story = new Story().grant('c1', 1).grant('c2', 2.5).release('c2', 3).down('c1', 3.2, reason);
    if (ranAt !== undefined) story.extend('c1', ranAt);
    return aboutOnly(story);
  };

  it('may have done nothing since it was last heard', () => {
    expect(ended('exited by itself (status 1)')).toMatch(
      /^c1's process ended by itself, seen at 3\.200 s, and may have done nothing since it was last heard at 1\.\d+ s$/,
    );
  });

  it('and has, where it was heard beside the next holder, or was killed', () => {
    expect(ended('exited by itself (status 1)', 2.7)).toBeUndefined();
    expect(ended('exited by itself (SIGSEGV)')).toBeUndefined();
    expect(ended('killed by the nemesis')).toBeUndefined();
  });
});

it('is any where something stepped, stood still, or ended by itself', () => {
  const any = (story: Story) => doubts(story).any;
  expect(any(new Story().grant('c1', 1).down('c1', 2))).toBe(false);
  expect(any(new Story().disturbed(1, 'wall-clock-step', 4))).toBe(false);
  expect(any(new Story().disturbed(1, 'wall-clock-step', 6))).toBe(true);
  expect(any(new Story().disturbed(1, 'harness-stall', 100))).toBe(true);
  expect(any(new Story().grant('c1', 1).down('c1', 2, 'exited by itself (status 0)'))).toBe(true);
});
