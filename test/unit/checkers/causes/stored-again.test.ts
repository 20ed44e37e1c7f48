import { describe, expect, it } from 'vitest';
import { leftBehind } from '../../../../checkers/liveness/left-behind.js';
import type { Cause } from '../../../../harness/vocabulary/verdict.js';
import { KEY, Story } from '../build.js';

/** Another connection than the client's. */
const ELSEWHERE = '10.77.0.9:40001';

interface Told {
  /** What c1 asked for first: a grant, or a try that failed. */
  first?: (story: Story) => Story;
  /** What it did to give it back. */
  givesBack?: (story: Story) => Story;
  /** How it stored it again. */
  stores?: (story: Story) => Story;
  /** What others did before. */
  before?: (story: Story) => Story;
}

/** Before, nothing is known of what the server has. */
const emptied = (story: Story) => story.command(0.1, 'r1', 'c2', ['DEL', KEY]);

/** By its kind, a request that gives back: `unlock` takes away what c2 had stored. */
const cycleOfC2 = (story: Story) =>
  emptied(story).grant('c2', 0.4).take(0.398, 'r1', 'c2').unlock(0.5, 'r1', 'c2').release('c2', 0.49);

/** c1 releases at 2 s what r1 does not have, its renewal stores it there, and it asks again at 4 s. */
function told({ first, givesBack, stores, before }: Told = {}): Story {
  const story = new Story().up('c1').up('c2');
  (before ?? cycleOfC2)(story);
  (
    first ??
    ((one) => one.grant('c1', 1.1, { grantSent: 1 }).take(1.05, 'r2', 'c1', 'one').release('c1', 2, { read: 2.2 }))
  )(story);
  (givesBack ?? ((one) => asksToRemove(one, 2.05)))(story);
  (stores ?? ((one) => one.take(2.1, 'r1', 'c1', 'one')))(story);
  return story.refused('c1', 3.9, 4.2).take(4, 'r1', 'c1', 'two').sample(4.5, 'r1', { owner: 'one' });
}

/** It finds nothing there. */
function asksToRemove(story: Story, at: number, source?: string): Story {
  return story
    .command(at, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'one'], 0, source)
    .command(at, 'r1', 'lua', ['get', KEY]);
}

function causeOf(one?: Told): Cause {
  const { violations } = leftBehind.check(told(one).input());
  expect(violations).toHaveLength(1);
  return violations[0]!.cause;
}

const nameOf = (one?: Told) => causeOf(one).name;

it('says that a renewal went on beside the release of its own hold, and shows each step', () => {
  const cause = causeOf();
  expect(cause.name).toBe('stored-again');
  expect(cause.sentence).toBe(
    'c1 stored lock:0 on r1 again after it had asked r1 to remove that, over the same connection: it went on beside its own release.',
  );
  expect(cause.chain.map(({ atNs, text }) => `${atNs / 1e9} ${text}`)).toEqual([
    '1.999 c1 was asked to release lock:0',
    '2.05 c1 asked r1 to remove what it had stored',
    '2.1 c1 stored it on r1, over the same connection',
    '4 c1 tried for it again, over the same connection',
    '4.5 r1 still had what it had stored before that',
  ]);
});

describe('without one of its links it is unexplained', () => {
  it('a try that failed has nothing to release', () => {
    const first = (story: Story) => story.refused('c1', 0.9, 1.6).grant('c2', 1.7).release('c2', 1.9);
    expect(nameOf({ first })).toBe('unexplained');
  });

  it('nobody asked the server to remove it', () => {
    expect(nameOf({ givesBack: (story) => story })).toBe('unexplained');
  });

  it('that came over another connection: what was sent first is not known', () => {
    expect(nameOf({ givesBack: (story) => asksToRemove(story, 2.05, ELSEWHERE) })).toBe('unexplained');
  });

  it('that came before the release was asked for: it was given back by the way, and taken again', () => {
    expect(nameOf({ givesBack: (story) => asksToRemove(story, 1.5) })).toBe('unexplained');
  });

  it('that ran before the release was asked for, and was read late: the attempt took back what it stored, and stored it anew', () => {
    const late = (readMs: number, skewMs = 0) => {
      const lateMs = readMs - skewMs;
      const looked = (story: Story) => cycleOfC2(story).sample(0.2, 'r1', { skewMs });
      const asks = (story: Story) =>
        story
          .command(2.05, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'one'], -lateMs)
          .command(2.05, 'r1', 'lua', ['get', KEY], -lateMs);
      return nameOf({
        before: looked,
        givesBack: asks,
        stores: (story) => story.take(2.1, 'r1', 'c1', 'one', -lateMs),
      });
    };
    expect(late(20)).toBe('stored-again');
    expect(late(980)).toBe('unexplained');
    // Of a server whose clock is off nobody knows to the millisecond when it ran.
    expect(late(20, 500)).toBe('unexplained');
  });

  it('that ran before its client began to release it, whenever that was told to', () => {
    const releases = (began: number) => (story: Story) =>
      story
        .grant('c1', 1.1, { grantSent: 1 })
        .take(1.05, 'r2', 'c1', 'one')
        .release('c1', began, { sent: 1.9, read: 2.4 });
    expect(nameOf({ first: releases(2) })).toBe('stored-again');
    // It was stopped meanwhile, say, and the server slow.
    expect(nameOf({ first: releases(2.3) })).toBe('unexplained');
  });

  it('that was asked of others before: a slow server ran late what the attempt took back, and stored anew', () => {
    const rounds = (story: Story) =>
      story
        .grant('c1', 1.1, { grantSent: 1, began: 0.9 })
        .take(0.91, 'r2', 'c1', 'one')
        .unlock(0.95, 'r2', 'c1', 'one')
        .take(1.05, 'r2', 'c1', 'one')
        .release('c1', 2, { read: 2.2 });
    expect(nameOf({ first: rounds })).toBe('unexplained');
    // That was one request, and here came two.
    const twice = (story: Story) => asksToRemove(asksToRemove(story, 2.04), 2.05);
    expect(nameOf({ first: rounds, givesBack: twice })).toBe('stored-again');
  });

  it('that came when the next acquire had been asked for: a client of the same name each time may have stored it for that', () => {
    const again = (at: number) => (story: Story) =>
      asksToRemove(story, 2.05)
        .refused('c1', at, at + 0.3)
        .take(2.5, 'r1', 'c1', 'one');
    expect(nameOf({ givesBack: again(2.6), stores: (story) => story })).toBe('stored-again');
    expect(nameOf({ givesBack: again(2.4), stores: (story) => story })).toBe('unexplained');
  });

  it('that was about another value, or another server', () => {
    const about = (node: string, value: string) => (story: Story) =>
      story.command(2.05, node, 'c1', ['EVALSHA', 'abc', '1', KEY, value]).command(2.05, node, 'lua', ['get', KEY]);
    expect(nameOf({ givesBack: about('r1', 'one') })).toBe('stored-again');
    expect(nameOf({ givesBack: about('r1', 'another') })).toBe('unexplained');
    expect(nameOf({ givesBack: about('r2', 'one') })).toBe('unexplained');
  });

  it('nothing shows that requests of its kind remove anything', () => {
    expect(nameOf({ before: (story) => story })).toBe('unexplained');
    const prolonged = (story: Story) =>
      emptied(story)
        .grant('c2', 0.4)
        .take(0.398, 'r1', 'c2')
        .release('c2', 0.55)
        .command(0.45, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'value-of-c2'])
        .command(0.45, 'r1', 'lua', ['pexpire', KEY, '5000'])
        .command(0.56, 'r1', 'c2', ['DEL', KEY]);
    expect(nameOf({ before: prolonged })).toBe('unexplained');
  });

  it('they do something else, too: then it may have been a renewal', () => {
    const both = (story: Story) =>
      emptied(story)
        .grant('c2', 0.4)
        .take(0.398, 'r1', 'c2')
        .release('c2', 0.49)
        .command(0.45, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'value-of-c2'])
        .command(0.45, 'r1', 'lua', ['pexpire', KEY, '5000'])
        .unlock(0.5, 'r1', 'c2');
    expect(nameOf({ before: both })).toBe('unexplained');
  });

  it('they took away what others had stored', () => {
    const others = (story: Story) =>
      cycleOfC2(story).take(0.6, 'r1', 'c1', 'own').unlock(0.61, 'r1', 'c2', 'own').refused('c1', 0.58, 0.65);
    expect(nameOf({ before: others })).toBe('unexplained');
  });

  it('the record has the beginning of the script only', () => {
    const script = (text: string) => {
      const asks = (story: Story, at: number, client: string, value: string) =>
        story.command(at, 'r1', client, ['EVAL', text, '1', KEY, value]).command(at, 'r1', 'lua', ['get', KEY]);
      return nameOf({
        before: (story) =>
          asks(
            emptied(story).grant('c2', 0.4).take(0.398, 'r1', 'c2').release('c2', 0.49),
            0.5,
            'c2',
            'value-of-c2',
          ).command(0.5, 'r1', 'lua', ['del', KEY]),
        givesBack: (story) => asks(story, 2.05, 'c1', 'one'),
      });
    };
    expect(script('return 1')).toBe('stored-again');
    expect(script('return …')).toBe('unexplained');
  });
});

it('what the release did not reach, and was there before it, was not stored again', () => {
  const stores = (story: Story) => story.take(1.06, 'r1', 'c1', 'one');
  const only = (story: Story) => story;
  expect(nameOf({ stores, givesBack: only })).toBe('unexplained');
});
