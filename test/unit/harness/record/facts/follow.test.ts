/** Which conditional takes succeeded, where samples have to tell, which are answered on another connection. */
import { describe, expect, it } from 'vitest';
import { Evidence } from '../../../../../harness/record/facts/evidence.js';
import { KEY, Story } from '../../../checkers/build.js';

/** What became of c2's takes, in their order; the story begins unwatched, so that nothing is known but what it tells. */
function fates(story: Story, client = 'c2') {
  const evidence = new Evidence(story.input());
  return evidence
    .writes('r1', KEY)
    .filter((write) => write.client === client && write.effect === 'take')
    .map((write) => write.took);
}

/** Something that the node's clock can be read from. */
const watched = () => new Story().sample(0, 'r1').watch(0.01, 'r1').command(0.1, 'r1', 'c9', ['GET', KEY]);
const owned = (story: Story, at: number, pttlMs = 4_000) => story.sample(at, 'r1', { owner: 'value-of-c1', pttlMs });

describe('a sample that shows who owns the key', () => {
  it('refuses later clients up to the removal', () => {
    const story = owned(watched(), 1).take(1.2, 'r1', 'c2').unlock(2, 'r1', 'c1').take(2.1, 'r1', 'c2');
    expect(fates(story)).toEqual([false, true]);
  });

  it('refuses until its time is over, give or take what is unknown', () => {
    expect(fates(owned(watched(), 1).take(4.5, 'r1', 'c2'))).toEqual([false]);
    expect(fates(owned(watched(), 1).take(4.9, 'r1', 'c2'))).toEqual([undefined]);
    expect(fates(owned(watched(), 1).take(5.1, 'r1', 'c2'))).toEqual([true]);
    expect(fates(owned(watched(), 1, -1).take(60, 'r1', 'c2'))).toEqual([false]);
  });

  it('refuses until exactly the time that an extension gave', () => {
    const extended = () => owned(watched(), 1).command(1.5, 'r1', 'c1', ['PEXPIRE', KEY, '1000']);
    expect(fates(extended().take(2.4, 'r1', 'c2'))).toEqual([false]);
    expect(fates(extended().take(2.6, 'r1', 'c2'))).toEqual([true]);
  });

  it('says nothing about the remaining time where the clock was moved', () => {
    const moved = watched().sample(1, 'r1', { owner: 'value-of-c1', pttlMs: 4_000, skewMs: 3_000 });
    expect(fates(moved.take(1.2, 'r1', 'c2'))).toEqual([undefined]);
  });

  it('may show the effect of a take that is read after it', () => {
    const story = watched().sample(1, 'r1', { owner: 'value-of-c2' }).take(1.001, 'r1', 'c2');
    expect(fates(story.sample(1.1, 'r1', { owner: 'value-of-c2' }))).toEqual([true]);
    // However late it is read: it is the server's stamp that counts.
    const late = watched().sample(1, 'r1', { owner: 'value-of-c2' }).take(1.3, 'r1', 'c2', 'value-of-c2', -305);
    expect(fates(late.sample(1.4, 'r1', { owner: 'value-of-c2' }))).toEqual([true]);
  });

  it('refuses a take that is read at once after it: what it shows was there before, or its take would have been read', () => {
    const unread = owned(watched(), 1).take(1.001, 'r1', 'c2').sample(1.1, 'r1');
    expect(fates(unread)).toEqual([false]);
  });
});

describe('a sample that contradicts the commands', () => {
  /** c1 certainly has the key from 1 s on. */
  const certain = () => watched().command(0.9, 'r1', 'c1', ['DEL', KEY]).take(1, 'r1', 'c1');

  it('gives the key to no client: it may be old', () => {
    const story = certain().sample(1.05, 'r1').take(1.06, 'r1', 'c2');
    expect(fates(story)).toEqual([undefined]);
    expect(fates(owned(story, 1.2))).toEqual([false]);
  });

  it('is right where the next one says the same', () => {
    const story = certain().sample(1.05, 'r1').sample(1.15, 'r1').take(1.2, 'r1', 'c2');
    expect(fates(story)).toEqual([true]);
  });
});

describe('a script', () => {
  const counted = (story: Story, at: number, client: string) =>
    story
      .command(at, 'r1', client, ['EVALSHA', 'abc', '1', KEY, `${client}:1`])
      .command(at, 'r1', 'lua', ['exists', KEY])
      .command(at, 'r1', 'lua', ['hincrby', KEY, `${client}:1`, '1'])
      .command(at, 'r1', 'lua', ['pexpire', KEY, '5000']);
  const freed = () => watched().command(0.5, 'r1', 'c9', ['DEL', KEY]);

  it('that counts up what its client holds has granted it once more: it is not refused because the key is there', () => {
    expect(fates(counted(counted(freed(), 1, 'c2'), 2, 'c2'))).toEqual([true, true]);
  });

  it('that counts down gives back a part, which is no take', () => {
    const story = counted(counted(freed(), 1, 'c2'), 2, 'c2').command(3, 'r1', 'c2', [
      'EVALSHA',
      'def',
      '1',
      KEY,
      'c2:1',
    ]);
    expect(fates(story.command(3, 'r1', 'lua', ['hincrby', KEY, 'c2:1', '-1']))).toEqual([true, true]);
  });

  it('that only looked has taken nothing', () => {
    const story = counted(freed(), 1, 'c1').command(2, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'c2:1']);
    expect(fates(story.command(2, 'r1', 'lua', ['hexists', KEY, 'c2:1']))).toEqual([]);
  });
});
