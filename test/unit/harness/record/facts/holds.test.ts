import { describe, expect, it } from 'vitest';
import { holdsOf } from '../../../../../harness/record/facts/holds.js';
import { stampBreaches } from '../../../../../harness/record/facts/operations.js';
import type { Hold } from '../../../../../harness/vocabulary/verdict.js';
import { ns, Story } from '../../../checkers/build.js';

function only(story: Story): Hold {
  const holds = [...holdsOf(story.history())];
  expect(holds).toHaveLength(1);
  return holds[0]!;
}

describe('a hold lasts', () => {
  it("from the acquire's end to the release's beginning, with its lease from when the attempt left", () => {
    const hold = only(
      new Story()
        .grant('c1', 1, { grantSent: 0.9, began: 0.5, validForMs: 4_900 })
        .release('c1', 3, { sent: 2.9, read: 3.5 }),
    );
    expect(hold).toMatchObject({
      client: 'c1',
      key: 'lock:0',
      fromNs: ns(1),
      untilNs: ns(3),
      endedBy: 'release',
      released: 'ok',
    });
    expect(hold).toMatchObject({
      grantSentNs: ns(0.9),
      leaseEndNs: ns(5.9),
      leaseMs: 5_000,
      validForMs: 4_900,
      evidence: [1, 2, 3, 4],
    });
  });

  it('with no end of its lease where its lock says that nothing ends a hold, but for what it says of this one', () => {
    const granted = (options = {}) => new Story().up('c1', [], 'none').grant('c1', 1, options);
    expect(only(granted().release('c1', 99))).toMatchObject({
      untilNs: ns(99),
      leaseMs: 5_000,
      leaseEndNs: Number.POSITIVE_INFINITY,
    });
    expect(only(granted({ validForMs: 4_900 }).release('c1', 99)).leaseEndNs).toBe(ns(5.9));
    expect(only(granted().renewed('c1', 50, 2_000).release('c1', 99)).leaseEndNs).toBe(ns(52));
  });

  it.each(['fail', 'info'] as const)('until the release began, also when it ended as %s', (type) => {
    expect(only(new Story().grant('c1', 1).release('c1', 3, { sent: 2, type }))).toMatchObject({
      untilNs: ns(3),
      released: type,
    });
  });

  it.each([
    ['fail', 'ok', 'ok'],
    ['ok', 'fail', 'ok'],
    ['info', 'ok', 'ok'],
    ['ok', 'info', 'ok'],
    ['info', 'fail', 'fail'],
  ] as const)('until the first of two releases began; after %s and then %s it is told as %s', (first, then, told) => {
    const twice = new Story().grant('c1', 1).release('c1', 3, { type: first }).release('c1', 4, { type: then });
    expect(only(twice)).toMatchObject({ untilNs: ns(3), released: told });
  });

  it('over the sleep of a client that was told to release while it was stopped', () => {
    expect(only(new Story().grant('c1', 1).release('c1', 9, { sent: 2 }))).toMatchObject({ untilNs: ns(9) });
  });

  it('only until the release was sent, where it is unknown when it began', () => {
    const unanswered = new Story().grant('c1', 1).release('c1', 9, { sent: 2, type: 'never' }).down('c1', 8);
    expect(only(unanswered)).toMatchObject({ untilNs: ns(2), endedBy: 'release' });
    const unstamped = new Story().grant('c1', 1).release('c1', 9, { sent: 2, stamps: false });
    expect(only(unstamped)).toMatchObject({ untilNs: ns(2), endedBy: 'release', released: 'ok' });
  });

  it('until its client was killed', () => {
    const hold = only(new Story().grant('c1', 1).down('c1', 2).event(5, { type: 'phase', phase: 'end' }));
    expect(hold).toMatchObject({ untilNs: ns(2), endedBy: 'client-down', evidence: [1, 2, 3] });
    expect(hold.released).toBeUndefined();
  });

  it('until its client said that it cannot tell what came of an extension, though it was killed for that only later', () => {
    const gaveUp = (type: 'info' | 'fail', stamps = true) =>
      only(new Story().grant('c1', 1).extend('c1', 2, 5_000, { type, stamps, read: 2.5 }).down('c1', 2.6));
    expect(gaveUp('info')).toMatchObject({ untilNs: ns(2.001), endedBy: 'client-down' });
    expect(gaveUp('fail')).toMatchObject({ untilNs: ns(2.6) });
    expect(gaveUp('info', false)).toMatchObject({ untilNs: ns(2.6) });
    const wentOn = new Story().grant('c1', 1).extend('c1', 2, 5_000, { type: 'info' }).extend('c1', 3).down('c1', 4);
    expect(only(wentOn)).toMatchObject({ untilNs: ns(4) });
    const asked = new Story().grant('c1', 1).refused('c1', 2, 2.2, 'info', 'lock:1').down('c1', 2.6);
    expect(only(asked)).toMatchObject({ untilNs: ns(2.2) });
  });

  it('until the kill, if the release began after it was sent', () => {
    expect(only(new Story().grant('c1', 1).release('c1', 4, { sent: 1.5 }).down('c1', 2))).toMatchObject({
      untilNs: ns(2),
      endedBy: 'client-down',
    });
  });

  it('until its client was told that it lost the lock', () => {
    const hold = only(new Story().grant('c1', 1).lost('c1', 2).release('c1', 2.5));
    expect(hold).toMatchObject({ untilNs: ns(2), endedBy: 'lost' });
  });

  it('to the end of the history, where nothing ends it', () => {
    expect(only(new Story().grant('c1', 1).event(9, { type: 'phase', phase: 'end' }))).toMatchObject({
      untilNs: ns(9),
      endedBy: 'history-end',
    });
  });

  it('not at all where it ended before the client had the answer', () => {
    expect(only(new Story().grant('c1', 1).down('c1', 0.999))).toMatchObject({ fromNs: ns(1), untilNs: ns(1) });
  });
});

it('a client that lost what it had not asked for yet has stamps that cannot be true; until the answer it may have lost it', () => {
  const breach = (at: number) => {
    const history = new Story().grant('c1', 2, { grantSent: 1.5 }).lost('c1', at, 2.1).history();
    return [...stampBreaches(history).values()].map(({ text }) => text);
  };
  expect(breach(1.4)).toEqual(['lost 1.400 s lies before attempt left 1.500 s']);
  expect(breach(1.5)).toEqual([]);
  expect(breach(2.05)).toEqual([]);
  expect(breach(2.2)).toEqual(['read 2.100 s lies before lost 2.200 s']);
});

describe('without stamps of its own', () => {
  it("the harness's stamps count for a client: a shorter hold, an earlier lease", () => {
    const hold = only(
      new Story()
        .grant('c1', 1, { stamps: false, sent: 0.5, read: 1.2 })
        .release('c1', 3, { stamps: false, sent: 2.8 }),
    );
    expect(hold).toMatchObject({ fromNs: ns(1.2), untilNs: ns(2.8), grantSentNs: ns(0.5), leaseEndNs: ns(5.5) });
  });

  it.each([
    ['before it was sent', { sent: 0.5, began: 0.4 }],
    ['after it was read', { sent: 0.5, read: 0.9 }],
    ['with a lease from before it began', { sent: 0.5, grantSent: 0.6, began: 0.7 }],
  ])('so is one that says it acted %s', (_name, stamps) => {
    const read = 'read' in stamps ? stamps.read : 1.2;
    const hold = only(new Story().grant('c1', 1, { ...stamps, read }).release('c1', 3, { sent: 2.8 }));
    expect(hold).toMatchObject({ fromNs: ns(read), untilNs: ns(2.8), grantSentNs: ns(0.5), leaseEndNs: ns(5.5) });
  });

  it('it is unknown when it lost the lock or renewed it', () => {
    const hold = only(
      new Story().grant('c1', 1, { sent: 0.5, began: 0.4, read: 1.2 }).renewed('c1', 2).lost('c1', 3, 3.1),
    );
    expect(hold).toMatchObject({ fromNs: ns(1.2), untilNs: ns(1.2), leaseEndNs: ns(5.5) });
  });

  it('a renewal that it says it sent does not count', () => {
    const hold = only(
      new Story().grant('c1', 1, { sent: 0.5, began: 0.4, read: 1.2 }).renewed('c1', 2).release('c1', 3),
    );
    expect(hold).toMatchObject({ leaseEndNs: ns(5.5) });
  });

  it('another client is not', () => {
    const holds = [
      ...holdsOf(
        new Story()
          .grant('c1', 1, { began: 0.4, sent: 0.5 })
          .release('c1', 2)
          .grant('c2', 3)
          .release('c2', 4, { sent: 3.5 })
          .history(),
      ),
    ];
    expect(holds[1]).toMatchObject({ client: 'c2', fromNs: ns(3), untilNs: ns(4) });
  });
});

describe('the lease', () => {
  it('runs on from every successful renewal', () => {
    expect(only(new Story().grant('c1', 1).extend('c1', 4).renewed('c1', 8).release('c1', 12)).leaseEndNs).toBe(ns(13));
  });

  it('is shortened by a renewal that asked for less', () => {
    expect(only(new Story().grant('c1', 1).extend('c1', 2, 1_000).release('c1', 12)).leaseEndNs).toBe(ns(3));
  });

  it('ends by the word of a lock that says that it is good for less than was asked for', () => {
    const granted = (validForMs: number) => new Story().grant('c1', 1, { grantSent: 0.9, validForMs }).release('c1', 9);
    expect(only(granted(3_000)).leaseEndNs).toBe(ns(4));
    expect(only(granted(0)).leaseEndNs).toBe(ns(1));
    expect(only(granted(9_000)).leaseEndNs).toBe(ns(5.9));
  });

  it('does not end when a lock begins to be careful, for clocks that differ', () => {
    const granted = (validForMs: number) => new Story().grant('c1', 1, { grantSent: 0.9, validForMs }).release('c1', 9);
    // A hundredth of the lease and 2 ms; a little more than a fiftieth.
    expect(only(granted(4_848)).leaseEndNs).toBe(ns(5.9));
    expect(only(granted(4_794)).leaseEndNs).toBe(ns(5.794));
  });

  it('runs on from a renewal that came after what the lock had said of the one before', () => {
    const story = new Story().grant('c1', 1, { grantSent: 1, began: 1, validForMs: 1_000 }).extend('c1', 3);
    expect(only(story.release('c1', 12)).leaseEndNs).toBe(ns(8));
  });

  it('is counted from when it was sent where the answer has no stamp that can be trusted', () => {
    const story = new Story().grant('c1', 3, { sent: 1, stamps: false, validForMs: 3_000 }).release('c1', 12);
    expect(only(story).leaseEndNs).toBe(ns(4));
  });

  it('runs on from a grant within the hold; whether it does from one in another mode is not known, nor what the hold was then', () => {
    const outer = (mode: 'read' | 'write', inner: 'read' | 'write', options = {}) => {
      const story = new Story().grant('c1', 1, { mode, leaseMs: 5_000 }).grant('c1', 3, { mode: inner, ...options });
      const [hold] = [...holdsOf(story.release('c1', 4).release('c1', 9, { hold: 1 }).history())];
      return [hold!.leaseEndNs, hold!.untilNs].map((at) => Math.round(at / 1e8) / 10);
    };
    expect(outer('write', 'write')).toEqual([8, 9]);
    expect(outer('read', 'read')).toEqual([8, 9]);
    expect(outer('write', 'read')).toEqual([6, 6]);
    expect(outer('read', 'write')).toEqual([6, 6]);
    expect(outer('write', 'read', { leaseMs: 2_000 })).toEqual([5, 5]);
    // Both end then.
    expect(outer('write', 'read', { leaseMs: 3_000 })).toEqual([6, 9]);
  });

  it('ended where it first ran out, although it was renewed later', () => {
    expect(only(new Story().grant('c1', 1, { grantSent: 1 }).renewed('c1', 7).release('c1', 12)).leaseEndNs).toBe(
      ns(6),
    );
  });

  it('is neither renewed nor shortened by an extension that failed', () => {
    const shorter = new Story()
      .grant('c1', 1, { grantSent: 1 })
      .extend('c1', 2, 1_000, { type: 'fail' })
      .release('c1', 5);
    expect(only(shorter).leaseEndNs).toBe(ns(6));
    expect(
      only(new Story().grant('c1', 1, { grantSent: 1 }).extend('c1', 4, 5_000, { type: 'fail' }).release('c1', 5))
        .leaseEndNs,
    ).toBe(ns(6));
  });

  it.each(['info', 'never'] as const)(
    'is never lengthened, but may be shortened by an extension that ended as %s',
    (type) => {
      const story = (leaseMs: number) =>
        new Story()
          .grant('c1', 1, { grantSent: 1 })
          .extend('c1', 2, leaseMs, { sent: 1.9, type, stamps: false })
          .release('c1', 5);
      expect(only(story(9_000)).leaseEndNs).toBe(ns(6));
      expect(only(story(1_000)).leaseEndNs).toBe(ns(2.9));
    },
  );
});

it('makes no hold of an acquire that failed, or whose outcome is unknown', () => {
  expect([...holdsOf(new Story().refused('c1', 1, 2).refused('c2', 1, 2, 'info').history())]).toEqual([]);
});

it('keeps the holds of one client apart', () => {
  const holds = [
    ...holdsOf(
      new Story().grant('c1', 1).release('c1', 2).grant('c1', 3, { key: 'lock:1' }).release('c1', 4).history(),
    ),
  ];
  expect(holds.map(({ key, fromNs, untilNs }) => [key, fromNs, untilNs])).toEqual([
    ['lock:0', ns(1), ns(2)],
    ['lock:1', ns(3), ns(4)],
  ]);
});
