/** Which conditional takes succeeded, where samples have to tell, which are answered on another connection. */
import { describe, expect, it } from 'vitest';
import { Evidence } from '../../../../../harness/record/facts/evidence.js';
import { KEY, Story } from '../../../checkers/build.js';

/** What became of c2's takes, in their order; the story begins unwatched, so that nothing is known but what it tells. */
function fates(story: Story, client = 'c2') {
  const evidence = new Evidence(story.input());
  const took = evidence.takes('r1', KEY);
  return evidence
    .writes('r1', KEY)
    .filter((write) => write.client === client && write.effect === 'take')
    .map((write) => took.get(write));
}

/** Something that the node's clock can be read from. */
const watched = () => new Story().sample(0, 'r1').watch(0.01, 'r1').command(0.1, 'r1', 'c9', ['GET', KEY]);
const owned = (story: Story, at: number, pttlMs = 4_000) => story.sample(at, 'r1', { owner: 'value-of-c1', pttlMs });

describe('a sample that shows who owns the key', () => {
  it('refuses whoever comes later, up to the removal', () => {
    const story = owned(watched(), 1).take(1.2, 'r1', 'c2').unlock(2, 'r1', 'c1').take(2.1, 'r1', 'c2');
    expect(fates(story)).toEqual([false, true]);
  });

  it('refuses until its time is over, give or take what nobody can tell', () => {
    expect(fates(owned(watched(), 1).take(4.5, 'r1', 'c2'))).toEqual([false]);
    expect(fates(owned(watched(), 1).take(5.1, 'r1', 'c2'))).toEqual([undefined]);
    expect(fates(owned(watched(), 1).take(5.5, 'r1', 'c2'))).toEqual([true]);
    expect(fates(owned(watched(), 1, -1).take(60, 'r1', 'c2'))).toEqual([false]);
  });

  it('refuses until exactly the time that an extension gave', () => {
    const extended = () => owned(watched(), 1).command(1.5, 'r1', 'c1', ['PEXPIRE', KEY, '1000']);
    expect(fates(extended().take(2.4, 'r1', 'c2'))).toEqual([false]);
    expect(fates(extended().take(2.6, 'r1', 'c2'))).toEqual([true]);
  });

  it('tells nothing of the time that is left where the clock cannot be known', () => {
    const noCommand = owned(new Story().sample(0, 'r1').watch(0.01, 'r1'), 1).take(1.2, 'r1', 'c2');
    expect(fates(noCommand)).toEqual([undefined]);
    const moved = watched().sample(1, 'r1', { owner: 'value-of-c1', pttlMs: 4_000, skewMs: 3_000 });
    expect(fates(moved.take(1.2, 'r1', 'c2'))).toEqual([undefined]);
    const jumped = watched().fault(0.5, 0, 'clock', 'strike', {
      effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 3_000 }],
    });
    expect(fates(owned(jumped, 1).take(1.2, 'r1', 'c2'))).toEqual([undefined]);
  });

  it('may be what a take did that is read after it', () => {
    const story = watched().sample(1, 'r1', { owner: 'value-of-c2' }).take(1.001, 'r1', 'c2');
    expect(fates(story)).toEqual([undefined]);
    expect(fates(story.sample(1.1, 'r1', { owner: 'value-of-c2' }))).toEqual([true]);
    // However late it is read.
    const late = watched().sample(1, 'r1', { owner: 'value-of-c2' }).take(1.3, 'r1', 'c2');
    expect(fates(late)).toEqual([undefined]);
    expect(fates(late.sample(1.4, 'r1', { owner: 'value-of-c2' }))).toEqual([true]);
  });

  it('may be newer than a take that is read at once after it, unless the take that it shows was read before', () => {
    const unread = owned(watched(), 1).take(1.001, 'r1', 'c2').sample(1.1, 'r1');
    expect(fates(unread)).toEqual([undefined]);
    const read = () => watched().take(0.5, 'r1', 'c1');
    expect(fates(owned(read(), 1).take(1.001, 'r1', 'c2').evicted(1.002, 'r1'))).toEqual([false]);
  });
});

describe('a sample that contradicts the commands', () => {
  /** c1 certainly has the key from 1 s on. */
  const certain = () => watched().command(0.9, 'r1', 'c1', ['DEL', KEY]).take(1, 'r1', 'c1');

  it('lets nobody have the key: it may be old', () => {
    const story = certain().sample(1.05, 'r1').take(1.06, 'r1', 'c2');
    expect(fates(story)).toEqual([undefined]);
    expect(fates(owned(story, 1.2))).toEqual([false]);
  });

  it('is right where the next one says the same', () => {
    const story = certain().sample(1.05, 'r1').sample(1.15, 'r1').take(1.2, 'r1', 'c2');
    expect(fates(story)).toEqual([true]);
  });
});
