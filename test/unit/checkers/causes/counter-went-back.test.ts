/** That the counter of tokens was lost is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { EPOCH_WALL_MS, KEY, type Story } from '../build.js';
import { COUNTER, count, fencedStory, tokenCause } from './fenced-story.js';

interface Telling {
  tokens?: readonly [number, number];
  /** Counts to the first token, for c1 at 0.999 s and others before. */
  first?: (story: Story) => Story;
  /** What becomes of the counter between 1 s and 3 s. */
  between?: (story: Story) => Story;
  /** Counts to the second token. */
  second?: (story: Story) => Story;
  quorum?: Quorum;
  /** When c2 was told to acquire. */
  asked?: number;
}

const removed = (s: Story) => s.command(2, 'r1', 'c3', ['DEL', COUNTER]);

/** c1 counts up to 2 and is granted at 1 s; c2 counts up to 1 and is granted at 3 s. */
function told({
  tokens: [higher, lower] = [2, 1],
  first = (s) => count(count(s, 0.9, 'c3'), 0.9995, 'c1'),
  between = removed,
  second = (s) => count(s, 2.9995, 'c2'),
  quorum = { kind: 'primary' },
  asked = 2.997,
}: Telling = {}) {
  const story = fencedStory(quorum).watch(0.1, 'r1').sample(0.5, 'r1');
  first(story.grant('c1', 1, { token: higher }).release('c1', 1.5));
  second(between(story.grant('c2', 3, { token: lower, sent: asked, began: asked }).release('c2', 4))).sample(5, 'r1');
  return tokenCause(story);
}

const name = (telling: Telling) => told(telling).name;
const lasting = (ms: number) => (s: Story) =>
  count(count(s, 0.9, 'c3'), 0.9995, 'c1').command(0.9996, 'r1', 'c1', ['PEXPIRE', COUNTER, String(ms)]);

describe('named', () => {
  it('where a client removed it', () => {
    expect(told()).toMatchObject({
      name: 'counter-removed',
      sentence:
        'r1 had counted {lock:0}:fence up to 2 for c1; then c3 removed {lock:0}:fence (DEL), and it was counted up to 1 for c2.',
      chain: [
        { text: 'r1 counted {lock:0}:fence up to 2 for c1' },
        { text: 'c1 was granted lock:0 with token 2' },
        { text: 'c3 removed {lock:0}:fence (DEL)' },
        { text: 'r1 counted {lock:0}:fence up to 1 for c2' },
        { text: 'c2 was granted lock:0 with token 1' },
      ],
    });
    expect(name({ between: (s) => s.command(2, 'r1', 'c1', ['DEL', COUNTER]) })).toBe('counter-removed');
  });

  it('where it expired, or was evicted', () => {
    expect(told({ first: lasting(1_000), between: (s) => s })).toMatchObject({
      name: 'counter-expired',
      sentence:
        'r1 had counted {lock:0}:fence up to 2 for c1; then {lock:0}:fence expired on r1, and it was counted up to 1 for c2.',
    });
    expect(name({ between: (s) => s.evicted(2, 'r1', COUNTER) })).toBe('evicted');
  });

  it('where it was counted before the lock was waited for', () => {
    expect(name({ second: (s) => count(s, 2.6, 'c2'), asked: 2.5 })).toBe('counter-removed');
    expect(name({ second: (s) => count(s, 2.4, 'c2'), asked: 2.5 })).toBe('unexplained');
  });

  it('where it was counted on, before and after, and its token came again', () => {
    const on = (s: Story) => count(removed(count(s, 1.2, 'c3')), 2.2, 'c3');
    expect(name({ between: on, tokens: [2, 2] })).toBe('counter-removed');
    expect(name({ between: (s) => on(s).command(2.3, 'r1', 'c3', ['PEXPIRE', COUNTER, '9000']), tokens: [2, 2] })).toBe(
      'counter-removed',
    );
    expect(
      name({ between: (s) => count(removed(removed(s)), 2.2, 'c3').command(2.3, 'r1', 'c3', ['DEL', COUNTER]) }),
    ).toBe('counter-removed');
  });
});

it('is named although a client was to count up what is no number', () => {
  const first = (s: Story) =>
    count(count(s, 0.9, 'c3'), 0.9995, 'c1')
      .command(0.8, 'r1', 'c1', ['SET', `${KEY}:x`, 'abc'])
      .command(0.85, 'r1', 'c1', ['INCR', `${KEY}:x`]);
  expect(name({ first })).toBe('counter-removed');
});

describe('not named', () => {
  it('where it was lost in several ways', () => {
    const both = (s: Story) => count(removed(s), 2.2, 'c3').evicted(2.3, 'r1', COUNTER);
    expect(name({ between: both })).toBe('unexplained');
  });

  it('where a stranger removed it, or something else was done to it', () => {
    expect(name({ between: (s) => s.command(2, 'r1', 'stranger', ['DEL', COUNTER]) })).toBe('unexplained');
    for (const argv of [
      ['SET', COUNTER, '0'],
      ['DECR', COUNTER],
    ])
      expect(name({ between: (s) => s.command(2, 'r1', 'c3', argv), tokens: [2, argv.length > 2 ? 1 : 2] })).toBe(
        'unexplained',
      );
    expect(name({ between: (s) => removed(s.command(1.8, 'r1', 'c3', ['SET', COUNTER, '0'])) })).toBe('unexplained');
  });

  it('where somebody counted down since, be it the one that was given the token', () => {
    const by = (amount: string) => (s: Story) => removed(s).command(2.1, 'r1', 'c3', ['INCRBY', COUNTER, amount]);
    expect(name({ tokens: [2, 1], between: by('0') })).toBe('counter-removed');
    expect(name({ tokens: [2, -3], between: by('-4') })).toBe('unexplained');
    const second = (s: Story) => s.command(2.9995, 'r1', 'c2', ['INCRBY', COUNTER, '-3']);
    expect(name({ tokens: [2, -3], second })).toBe('unexplained');
  });

  it('where it expired by a time that a stranger had set', () => {
    const sets = (by: string) => (s: Story) => s.command(1.5, 'r1', by, ['PEXPIRE', COUNTER, '500']);
    expect(name({ between: sets('c3') })).toBe('counter-expired');
    expect(name({ between: sets('stranger') })).toBe('unexplained');
    expect(name({ first: lasting(3_600_000), between: sets('stranger') })).toBe('unexplained');
    expect(name({ first: lasting(1_000), between: (s) => s })).toBe('counter-expired');
  });

  it('where it expired only because the clock of its server had been moved, or that of who set its time', () => {
    const jumped = (lastsMs: number, offsetMs: number) =>
      name({
        first: lasting(lastsMs),
        between: (s) =>
          s
            .fault(1.5, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs }] })
            .sample(1.6, 'r1', { skewMs: offsetMs }),
        second: (s) => s.command(2.9995, 'r1', 'c2', ['INCR', COUNTER], offsetMs),
      });
    expect(jumped(3_600_000, 7_200_000)).toBe('unexplained');
    expect(jumped(1_000, 200)).toBe('counter-expired');
    const setBack = (offsetMs: number) =>
      name({
        first: (s) =>
          count(count(s, 0.9, 'c3'), 0.9995, 'c1')
            .fault(0.7, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['c1'], offsetMs }] })
            .command(0.9996, 'r1', 'c1', ['PEXPIREAT', COUNTER, String(EPOCH_WALL_MS + 2_000)]),
        between: (s) => s,
      });
    expect(setBack(-7_200_000)).toBe('unexplained');
    const until = (s: Story) =>
      lasting(9_000)(s).command(1.1, 'r1', 'c1', ['PEXPIREAT', COUNTER, String(EPOCH_WALL_MS + 2_000)]);
    expect(name({ first: until, between: (s) => s })).toBe('counter-expired');
  });

  it('where it expired only because the clock of the machine was stepped, of which no look at its server tells', () => {
    const stepped = (lastsMs: number, ms: number) => {
      const first = (s: Story) => lasting(lastsMs)(s.disturbed(1.5, 'wall-clock-step', ms));
      return name({ first, between: (s) => s.sample(1.6, 'r1') });
    };
    expect(stepped(3_600_000, 7_200_000)).toBe('unexplained');
    expect(stepped(1_000, 200)).toBe('counter-expired');
  });

  it('where something may have happened unseen', () => {
    for (const at of [1.5, 2.5])
      expect(name({ between: (s) => removed(s.watch(at, 'r1', false).watch(at + 0.01, 'r1')) }), `${at}`).toBe(
        'unexplained',
      );
  });

  it('where another counted to the token, or it was counted before the client asked, or twice within it', () => {
    expect(name({ second: (s) => count(s, 2.9995, 'c3') })).toBe('unexplained');
    expect(name({ first: (s) => count(count(s, 0.9, 'c3'), 0.9995, 'c3') })).toBe('unexplained');
    expect(name({ second: (s) => count(s, 2.9, 'c2') })).toBe('unexplained');
    expect(name({ second: (s) => count(s, 3.01, 'c2') })).toBe('unexplained');
    const twice = (s: Story) =>
      count(count(s, 2.9985, 'c2').command(2.999, 'r1', 'c2', ['DEL', COUNTER]), 2.9995, 'c2');
    expect(name({ second: twice })).toBe('unexplained');
  });

  it('where they were counted in different keys, or to other numbers', () => {
    const other = (s: Story) => s.command(2.9995, 'r1', 'c2', ['INCR', `${COUNTER}:other`]);
    expect(name({ second: other })).toBe('unexplained');
    expect(name({ between: (s) => count(removed(s), 2.2, 'c3'), second: other })).toBe('unexplained');
    expect(name({ tokens: [3, 1] })).toBe('unexplained');
    expect(name({ tokens: [2, 0] })).toBe('unexplained');
  });

  it('where it was set anew after it was lost, or not all keys were looked at', () => {
    expect(name({ between: (s) => removed(s).command(2.2, 'r1', 'c3', ['SET', COUNTER, '0']) })).toBe('unexplained');
    const many = (s: Story) =>
      removed(s).times(33, (told, n) => told.command(2.1, 'r1', 'c3', ['SET', `${KEY}:${n}`, 'x']));
    expect(name({ between: many })).toBe('unexplained');
    // A server of which no command was seen may have counted, too.
    expect(name({ between: (s) => removed(s).sample(0.5, 'r2') })).toBe('unexplained');
  });

  it('where the second count was on another server', () => {
    const elsewhere = (s: Story) =>
      s.watch(0.1, 'r2').sample(0.5, 'r2').command(2.9995, 'r2', 'c2', ['INCR', COUNTER]).sample(5, 'r2');
    expect(name({ between: (s) => count(removed(s), 2.2, 'c3'), second: elsewhere })).toBe('unexplained');
  });

  it('of independent nodes', () => {
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
  });
});
