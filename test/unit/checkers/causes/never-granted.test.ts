/** What a client whose requests were all refused may hold all the same, so that its hold is not said to have been granted by nobody. */
import { describe, expect, it } from 'vitest';
import { KEY, Story } from '../build.js';
import { causeNames } from './two-grants.js';

const UNSEEN = { unseen: [KEY] };
const watched = () => new Story().up('c2').watch(0, 'r1').sample(0.2, 'r1').looks(0.3, 5, 'r1', UNSEEN);

describe('a client whose SET NX was refused', () => {
  /** c0 holds at 1 s, and c2 asks at 1.5 s; at 2 s c0 gives it to somebody, which a stranger removes, and c3 takes it at 3 s. */
  const waited = (owner: string, by = 'c0') =>
    causeNames(
      watched()
        .promised({ kind: 'fair' })
        .up('c0')
        .up('c3')
        .grant('c0', 1)
        .take(0.999, 'r1', 'c0')
        .grant('c2', 2.1, { sent: 1.5, began: 1.501, grantSent: 1.502 })
        .take(1.503, 'r1', 'c2')
        .release('c0', 2)
        .command(2.001, 'r1', by, ['SET', KEY, owner, 'PX', '5000'])
        .command(2.5, 'r1', 'stranger', ['DEL', KEY])
        .grant('c3', 3)
        .take(2.999, 'r1', 'c3')
        .release('c2', 4)
        .release('c3', 4),
    );

  it('holds what the holder before it, which released, stored for it while it waited', () => {
    expect(waited('value-of-c2')).not.toContain('never-granted');
    // That may be the name by which it queued.
    expect(waited('place-of-c2')).not.toContain('never-granted');
  });

  it('may hold what the holder before it left to it, and only told it so', () => {
    const left = (releasedAt: number, grantedAt: number) => {
      const story = watched().promised({ kind: 'fair' }).up('c0').up('c3').grant('c0', 1).take(0.999, 'r1', 'c0');
      const sent = { sent: grantedAt - 0.006, began: grantedAt - 0.005, grantSent: grantedAt - 0.004 };
      story
        .grant('c2', grantedAt, sent)
        .take(grantedAt - 0.003, 'r1', 'c2')
        .release('c0', releasedAt);
      story.command(releasedAt + 0.001, 'r1', 'c0', ['PUBLISH', `${KEY}:next`, 'c2']);
      story.command(2.5, 'r1', 'stranger', ['DEL', KEY]).grant('c3', 3).take(2.999, 'r1', 'c3');
      return causeNames(story.release('c2', 4).release('c3', 4)).at(-1);
    };
    expect(left(1.5, 2)).toBe('unexplained');
    expect(left(1.9985, 2)).toBe('unexplained');
    // It was not done yet.
    expect(left(2.2, 2)).toBe('never-granted');
  });

  it('may have been let in by a third one that asked, and found it next in the queue', () => {
    const NEXT = `${KEY}:next`;
    const letIn = (place: string) => {
      const story = watched().promised({ kind: 'fair' }).up('c0').up('c3').grant('c0', 1).take(0.999, 'r1', 'c0');
      story.grant('c2', 2.3, { sent: 1.5, began: 1.501, grantSent: 1.502 }).take(1.503, 'r1', 'c2');
      story.command(1.504, 'r1', 'c2', ['SET', NEXT, 'place-of-c2']).release('c0', 2);
      story
        .command(2.001, 'r1', 'c0', ['DEL', KEY])
        .refused('c3', 2.1, 2.2)
        .command(2.11, 'r1', 'c3', ['GETDEL', NEXT]);
      story.command(2.12, 'r1', 'c3', ['SET', KEY, place, 'PX', '5000', 'NX']);
      story.command(2.5, 'r1', 'stranger', ['DEL', KEY]).grant('c3', 3).take(2.999, 'r1', 'c3');
      return causeNames(story.release('c2', 4).release('c3', 4)).at(-1);
    };
    expect(letIn('place-of-c2')).toBe('unexplained');
    expect(letIn('place-of-c3')).toBe('never-granted');
  });

  it('may hold what somebody had stored of whom nothing was seen', () => {
    const stored = (isSeen: boolean) => {
      const story = new Story().up('c0').up('c2').up('c3').watch(0, 'r1').sample(0.2, 'r1').grant('c0', 1);
      if (isSeen) story.take(0.999, 'r1', 'c0');
      else story.watch(0.9, 'r1', false).watch(1.1, 'r1');
      story.sample(1.2, 'r1', { owner: 'value-of-c0', pttlMs: 4_799 }).looks(1.3, 5, 'r1', UNSEEN);
      story
        .grant('c2', 2.5)
        .take(2.499, 'r1', 'c2')
        .release('c0', isSeen ? 2.7 : 2);
      story.command(2.8, 'r1', 'stranger', ['DEL', KEY]).grant('c3', 3).take(2.999, 'r1', 'c3');
      return causeNames(story.release('c2', 4).release('c3', 4)).at(-1);
    };
    expect(stored(true)).toBe('never-granted');
    expect(stored(false)).toBe('unexplained');
  });

  it('does not hold what another one took meanwhile for itself, and removed', () => {
    const taken = (by: string) => {
      const story = watched().up('c0').up('c1').up('c3').grant('c0', 1).take(0.999, 'r1', 'c0');
      story.grant('c2', 2.1, { sent: 1.5, began: 1.501, grantSent: 1.502 }).take(1.503, 'r1', 'c2');
      story.release('c0', 1.8).command(1.9, 'r1', by, ['DEL', KEY]);
      story.grant('c1', 2).take(1.999, 'r1', 'c1').release('c1', 2.4).command(2.401, 'r1', 'c1', ['DEL', KEY]);
      return causeNames(story.grant('c3', 3).take(2.999, 'r1', 'c3').release('c2', 4).release('c3', 4)).at(-1);
    };
    expect(taken('c0')).toBe('never-granted');
    // It may have been left to c2, and was lost by that.
    expect(taken('stranger')).toBe('unexplained');
  });

  /** A stranger removes what c1 holds from 1 s on; c2's try after that is not answered, and the next one is refused. */
  const found = (first: string, looks: string[][] = [], options = ['NX']) => {
    const story = watched().up('c1').grant('c1', 1).take(0.999, 'r1', 'c1').command(2, 'r1', 'stranger', ['DEL', KEY]);
    story.refused(first, 2.4, 2.6, 'info').take(2.45, 'r1', first, 'earlier').grant('c2', 3);
    story.command(2.999, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000', ...options]);
    for (const argv of looks) story.command(2.9995, 'r1', 'c2', argv);
    return causeNames(story.release('c1', 4).release('c2', 4));
  };

  it('may hold what it had stored in a try that was not answered, and saw there', () => {
    expect(found('c2', [['GET', KEY]])).not.toContain('never-granted');
    expect(found('c3', [['GET', KEY]])).toContain('never-granted');
    expect(found('c2')).toContain('never-granted');
    expect(found('c2', [], ['NX', 'GET'])).not.toContain('never-granted');
    expect(found('c3', [], ['NX', 'GET'])).toContain('never-granted');
  });

  it('may hold what one before in its place had stored, and it saw there: they may have the same name', () => {
    const followed = (slot: string) => {
      const up = { host: 'c2', address: '10.77.0.9', lock: 'any', features: [] };
      const story = watched()
        .up('c3')
        .event(2.2, { type: 'client-up', client: 'c2.2', slot, ...up });
      story.grant('c2', 1).take(0.999, 'r1', 'c2', 'host-c2').down('c2', 2).grant('c2.2', 2.5);
      story.command(2.4985, 'r1', 'c2.2', ['SET', KEY, 'again', 'PX', '5000', 'NX']);
      story.command(2.499, 'r1', 'c2.2', ['GET', KEY]).command(2.8, 'r1', 'stranger', ['DEL', KEY]);
      return causeNames(story.grant('c3', 3).take(2.999, 'r1', 'c3').release('c2.2', 4).release('c3', 4.2));
    };
    expect(followed('c2')).not.toContain('never-granted');
    expect(followed('c4')).toContain('never-granted');
  });

  it('may have been granted it by another request of the same attempt, which was read seconds late', () => {
    const again = (lateMs: number) => {
      const story = watched().up('c1').grant('c1', 1).take(0.999, 'r1', 'c1').looks(5, 8, 'r1', UNSEEN);
      story.grant('c2', 4.5, { sent: 4.1, began: 4.101, grantSent: 4.102 }).take(4.104, 'r1', 'c2');
      story.command(7, 'r1', 'stranger', ['DEL', KEY], -lateMs - 100).take(7, 'r1', 'c2', 'value-of-c2', -lateMs);
      return causeNames(story.release('c1', 6).release('c2', 6.5));
    };
    expect(again(2_501)).not.toContain('never-granted');
    // That was in a later one.
    expect(again(0)).toContain('never-granted');
  });
});
