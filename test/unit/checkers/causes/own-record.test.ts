/** Causes by a service's own record of whom it had stored: each is named by its chain, and not where a link is taken away. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { LeaseKind } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';

const found = (story: Story) => mutualExclusion.check(story.input()).violations;
const names = (story: Story) => found(story).map(({ cause }) => cause.name);

/** c1 is granted at 1 s for 5 s, c2 at 3 s; both let go at 4 s. */
function twoHolds(lease?: LeaseKind, node = 'e1'): Story {
  const story = new Story().up('c1', [], lease).up('c2', [], lease).up('c3', [], lease).watch(0, node);
  return story.grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
}

describe('one log', () => {
  const overwritten = () => twoHolds().stored(0.999, 'e1', 5, 'c1:a').stored(2.999, 'e1', 7, 'c2:b');

  it('names a client that stored itself over what was there', () => {
    expect(found(overwritten())).toMatchObject([
      {
        class: 'exclusion',
        cause: {
          name: 'overwritten',
          sentence: "c2 stored itself over c1's lock:0, which was still there: nothing lies between log 5 and log 7.",
        },
      },
    ]);
  });

  it('takes what two servers of a log tell for one thing', () => {
    const twice = overwritten().watch(0, 'e2').stored(1.2, 'e2', 5, 'c1:a').stored(3.2, 'e2', 7, 'c2:b');
    expect(names(twice)).toEqual(['overwritten']);
  });

  it('says nothing where it was asked only now and then', () => {
    const story = twoHolds().stored(0.999, 'e1', 5, 'c1:a', { isSampled: true });
    expect(names(story.stored(2.999, 'e1', 7, 'c2:b', { isSampled: true }))).toEqual(['unexplained']);
  });

  it('says nothing where a clock was set, or the entry is not known for one of them', () => {
    const jumped = overwritten().fault(2, 0, 'clock', 'strike', {
      effects: [{ kind: 'clock-jumped', who: ['e1'], offsetMs: 9_000 }],
    });
    expect(names(jumped)).toEqual(['unexplained']);
    expect(names(twoHolds().stored(0.999, 'e1', 5, 'c1:a'))).toEqual(['unexplained']);
    const ambiguous = overwritten().stored(1.1, 'e1', 6, 'c1:z');
    expect(names(ambiguous)).toEqual(['unexplained']);
  });

  const removed = (at: number, fields = {}) =>
    twoHolds().stored(0.999, 'e1', 5, 'c1:a').stored(at, 'e1', 6, undefined, fields).stored(2.999, 'e1', 7, 'c2:b');

  it('names what was removed before its lease was over', () => {
    expect(found(removed(2))).toMatchObject([
      {
        cause: {
          name: 'removed-early',
          sentence: expect.stringContaining('removed at 2.000 s, 3.998 s before its lease'),
        },
      },
    ]);
  });

  it('does not where the service says that its own rule ended it', () => {
    expect(names(removed(2, { how: 'timed-out' }))).toEqual(['unexplained']);
  });

  it('names a session that another was taken for, where the lock confirmed the hold after it had ended', () => {
    const expired = (lease: LeaseKind, confirmed: number) => {
      const story = new Story().up('c1', [], lease).up('c2', [], lease).watch(0, 'e1').grant('c1', 1);
      story.renewed('c1', confirmed).grant('c2', 3).release('c1', 4).release('c2', 4);
      story.stored(0.999, 'e1', 5, 'c1:a').stored(2, 'e1', 6, undefined, { how: 'timed-out' });
      return story.stored(2.999, 'e1', 7, 'c2:b');
    };
    expect(found(expired('session', 2.5))).toMatchObject([
      {
        class: 'exclusion',
        cause: { name: 'session-expired', sentence: expect.stringContaining('had ended for its silence at 2.000 s') },
      },
    ]);
    // It may have been confirmed before, and ended all the same.
    expect(names(expired('session', 1.5))).toEqual(['unexplained']);
    expect(names(expired('timed', 2.5))).toEqual(['unexplained']);
  });

  it('does not take for overwritten what was no longer good', () => {
    const late = new Story()
      .up('c1')
      .up('c2')
      .watch(0, 'e1')
      .grant('c1', 1)
      .grant('c2', 7)
      .release('c1', 8)
      .release('c2', 9);
    late.stored(0.999, 'e1', 5, 'c1:a').stored(6.999, 'e1', 7, 'c2:b');
    expect(found(late).map((one) => [one.class, one.cause.name])).not.toContainEqual([
      expect.anything(),
      'overwritten',
    ]);
  });
});

describe('a grant of which no server has anything', () => {
  const shown = () => {
    const story = twoHolds().up('c4').watch(0, 'e1');
    // How this lock stores its grants shows in others of them.
    for (const [n, client] of ['c3', 'c4', 'c3'].entries()) {
      const at = 10 + 4 * n;
      story.grant(client, at).release(client, at + 1);
      story.stored(at - 0.001, 'e1', 20 + 2 * n, `${client}:${n}`).stored(at + 1, 'e1', 21 + 2 * n, undefined);
    }
    return story.stored(0.999, 'e1', 5, 'c1:a');
  };

  it('is told', () => {
    expect(names(shown())).toEqual(['never-granted']);
  });

  it('is not where holders are asked for now and then', () => {
    expect(names(shown().stored(9, 'e1', 19, 'c3:x', { log: 'sessions', isSampled: true }))).toEqual(['unexplained']);
  });

  it('is not where nobody looked, or the lock need not store its grants so', () => {
    expect(names(shown().watch(3.5, 'e1', false))).toEqual(['unexplained']);
    expect(names(twoHolds().stored(0.999, 'e1', 5, 'c1:a'))).toEqual(['unexplained']);
  });
});

describe('two servers', () => {
  const each = (lease: LeaseKind | undefined, node: string) =>
    twoHolds(lease, 'p1')
      .watch(0, 'p2')
      .role(0.5, 'p1', 'primary')
      .role(0.5, 'p2', 'replica')
      .stored(0.999, 'p1', 5, 'c1:a', { log: 'of p1' })
      .stored(2.999, node, 3, 'c2:b', { log: `of ${node}, later` });
  const promoted = (lease?: LeaseKind) => each(lease, 'p2').role(2.5, 'p2', 'primary', '1', 2);

  it('names a row that a failover lost', () => {
    expect(found(promoted())).toMatchObject([
      { cause: { name: 'failover-lost-row', sentence: expect.stringContaining("p2 took p1's place without the row") } },
    ]);
  });

  it('names a session that went with its server', () => {
    expect(names(promoted('session'))).toEqual(['session-lost']);
    const anew = each('session', 'p1').role(2, 'p1', 'primary', '2');
    expect(names(anew)).toEqual(['session-lost']);
  });

  it('does not where the one that took over knew of it', () => {
    const knew = promoted().stored(2.6, 'p2', 2, 'c1:a', { log: 'of p2, later' });
    expect(names(knew)).toEqual(['unexplained']);
  });

  it('names a lock that only one server knows of', () => {
    expect(names(each('session', 'p2'))).toEqual(['local-to-one-server']);
    const both = each('session', 'p2').role(0.4, 'p2', 'primary').role(0.6, 'p2', 'primary');
    expect(names(both)).toEqual(['unexplained']);
    const gone = each('session', 'p2').stored(2.5, 'p1', 6, undefined, { log: 'of p1' });
    expect(names(gone)).toEqual(['unexplained']);
  });
});
