/** That a token was drawn before the lock was waited for is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import type { Story } from '../build.js';
import { COUNTER, count, fencedStory, tokenCause } from './fenced-story.js';

interface Telling {
  /** Who counts, and when, in the server's order. */
  counts?: readonly (readonly [at: number, client: string])[];
  /** Tokens of c1, granted at 1 s, and c2, granted at 3 s. */
  tokens?: readonly [number, number];
  watchedFrom?: number;
  quorum?: Quorum;
  between?: (story: Story) => Story;
}

/** c2 draws 1 and is refused, c1 draws 2 and is granted at 1 s; c2 is granted with its 1 at 3 s. */
function told({
  counts = [
    [0.99, 'c2'],
    [0.995, 'c1'],
  ],
  tokens: [higher, lower] = [2, 1],
  watchedFrom = 0.1,
  quorum = { kind: 'primary' },
  between = (s) => s,
}: Telling = {}) {
  const story = fencedStory(quorum).watch(watchedFrom, 'r1').sample(0.5, 'r1');
  story.grant('c1', 1, { token: higher, sent: 0.98, began: 0.98 }).release('c1', 2);
  for (const [at, client] of counts) count(story, at, client);
  story.take(0.999, 'r1', 'c1');
  between(story);
  story.grant('c2', 3, { token: lower }).take(2.999, 'r1', 'c2').release('c2', 4).sample(5, 'r1');
  return tokenCause(story);
}

describe('named', () => {
  it('where the one that was granted later had drawn its token before', () => {
    expect(told()).toMatchObject({
      name: 'token-drawn-early',
      sentence:
        'c2 had drawn its token 1 from {lock:0}:fence by 0.990 s, before c1 drew 2; it was granted lock:0 only after that, by an attempt that left at 2.998 s.',
      chain: [
        { text: 'r1 counted {lock:0}:fence up to 1 for c2' },
        { text: 'r1 counted {lock:0}:fence up to 2 for c1' },
        { text: 'c1 was granted lock:0 with token 2' },
        { text: 'c2 was granted lock:0 with token 1' },
      ],
    });
  });
});

describe('not named', () => {
  const name = (telling: Telling) => told(telling).name;

  it('where it was drawn within the attempt that was granted: the count had been removed', () => {
    const lost = (s: Story) =>
      s.command(2, 'r1', 'c3', ['DEL', COUNTER]).command(2.9985, 'r1', 'c2', ['INCR', COUNTER]);
    expect(
      name({
        counts: [
          [0.9, 'c3'],
          [0.995, 'c1'],
        ],
        between: lost,
      }),
    ).toBe('counter-removed');
  });

  it('where its client had been granted it with that before, and says the same token again', () => {
    const story = fencedStory({ kind: 'primary' }).watch(0.1, 'r1').sample(0.15, 'r1');
    count(story.grant('c2', 0.3, { token: 1 }), 0.298, 'c2').take(0.299, 'r1', 'c2');
    story.release('c2', 0.5).unlock(0.5005, 'r1', 'c2');
    count(story.grant('c1', 1, { token: 2 }), 0.998, 'c1').take(0.999, 'r1', 'c1');
    story.release('c1', 2).unlock(2.0005, 'r1', 'c1');
    story.grant('c2', 3, { token: 1 }).take(2.999, 'r1', 'c2').release('c2', 4).sample(5, 'r1');
    expect(tokenCause(story).name).toBe('unexplained');
  });

  it('where its client came to that number another time, or may have', () => {
    const again = (s: Story) => s.command(2, 'r1', 'c3', ['DEL', COUNTER]).command(2.5, 'r1', 'c2', ['INCR', COUNTER]);
    expect(name({ between: again })).toBe('unexplained');
    for (const at of [0.992, 2.5])
      expect(name({ between: (s) => s.watch(at, 'r1', false).watch(at + 0.001, 'r1') }), `${at}`).toBe('unexplained');
    expect(name({ between: (s) => s.watch(3.5, 'r1', false) })).toBe('unexplained');
  });

  it('where a server that had replicated counted for its client to nobody knows what', () => {
    const promoted = (by: string) => (s: Story) =>
      s
        .watch(0.1, 'r2')
        .sample(0.3, 'r2')
        .sample(0.5, 'r2', { role: 'replica' })
        .sample(2.5, 'r2')
        .command(2.9985, 'r2', by, ['INCR', COUNTER]);
    expect(name({ between: promoted('c3') })).toBe('token-drawn-early');
    expect(name({ between: promoted('c2') })).toBe('unexplained');
  });

  it('where the other one had drawn first, or the counts are of other numbers', () => {
    expect(
      name({
        counts: [
          [0.99, 'c1'],
          [0.995, 'c2'],
        ],
        tokens: [2, 1],
      }),
    ).toBe('unexplained');
    expect(name({ tokens: [3, 1] })).toBe('unexplained');
    expect(name({ tokens: [2, 0] })).toBe('unexplained');
    expect(
      name({
        counts: [
          [0.99, 'c3'],
          [0.995, 'c1'],
        ],
      }),
    ).toBe('unexplained');
  });

  it('where the count is not known: the server was not watched from the beginning', () => {
    expect(name({ watchedFrom: 0.985 })).toBe('unexplained');
  });

  it('where both have the same one: the count had been lost', () => {
    const counts = [
      [0.981, 'c3'],
      [0.985, 'c2'],
      [0.99, 'c3'],
      [0.995, 'c1'],
    ] as const;
    const lost = (s: Story) => s.command(0.987, 'r1', 'c3', ['DEL', COUNTER]);
    expect(name({ counts, tokens: [2, 2], between: lost })).not.toBe('token-drawn-early');
  });

  it('where they were drawn from two counters, or one of them when its client had been granted', () => {
    const counts = [
      [0.991, 'c3'],
      [0.995, 'c1'],
    ] as const;
    const other = (s: Story) => s.command(0.99, 'r1', 'c2', ['INCR', `${COUNTER}:other`]);
    expect(name({ counts, between: other })).toBe('unexplained');
    const elsewhere = (s: Story) =>
      s.watch(0.1, 'r2').sample(0.5, 'r2').command(0.99, 'r2', 'c2', ['INCR', COUNTER]).sample(5, 'r2');
    expect(name({ counts, between: elsewhere })).toBe('unexplained');
    const late = [
      [0.99, 'c2'],
      [1.5, 'c1'],
    ] as const;
    expect(name({ counts: late })).toBe('unexplained');
  });

  it('of independent nodes', () => {
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
  });
});
