/**
 * A failover that lost a write, told where the new primary was not watched, or the old one not looked at, just when the write was
 * made: what proves it instead, and for each link of that a story that lacks only that one.
 */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';
import { overwrites } from './two-grants.js';

const REPLICA = { role: 'replica' } as const;
const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;

describe('a write that was made when the new primary was promoted, which broke off with whom watched it', () => {
  const OLD_ONE_CUT_OFF: [string, string][] = [
    ['r1', 'r2'],
    ['r1', 'r3'],
  ];
  const NEW_ONE_CUT_OFF: [string, string][] = [
    ['r1', 'r2'],
    ['r3', 'r2'],
  ];

  interface Told {
    pairs?: [string, string][] | undefined;
    cutAt?: number;
    healedAt?: number;
    promotedAt?: number;
    and?(story: Story): Story;
  }

  /** r1 is cut off from 0.5 s on, and grants c1 at 1 s; r2 is primary from 1.03 s on, and grants c2 at 3 s. */
  function story({
    pairs = OLD_ONE_CUT_OFF,
    cutAt = 0.5,
    healedAt = 4,
    promotedAt = 1.03,
    and = (one) => one,
  }: Told = {}): Story {
    const effects: FaultEffect[] = [{ kind: 'cut', pairs }];
    const told = new Story()
      .replicated()
      .up('c1')
      .up('c2')
      .grant('c1', 1)
      .grant('c2', 3)
      .release('c1', 4)
      .release('c2', 4)
      .fault(cutAt, 0, 'partition', 'strike', { effects })
      .fault(healedAt, 0, 'partition', 'heal')
      .watch(0, 'r1')
      .watch(0, 'r2')
      .watch(0, 'r3')
      .looks(0.3, 1, 'r1')
      .looks(1, 3.5, 'r1', { owner: 'value-of-c1' })
      .looks(0.3, 3.5, 'r3', REPLICA)
      .looks(0.3, 0.95, 'r2', REPLICA)
      .take(0.999, 'r1', 'c1')
      .watch(0.96, 'r2', false)
      .watch(1.02, 'r2')
      .looks(1.025, promotedAt, 'r2', REPLICA)
      .looks(promotedAt, 2.95, 'r2');
    return and(told);
  }
  const named = (told: Told = {}) => causeOf(story(told).take(2.999, 'r2', 'c2')).name;

  it('was lost, where nothing that the old one sent can have come to anybody', () => {
    expect(named()).toBe('failover-lost-write');
    expect(named({ promotedAt: 1.6 })).toBe('failover-lost-write');
  });

  it('was lost, where nothing can have come to the new one', () => {
    expect(named({ pairs: NEW_ONE_CUT_OFF })).toBe('failover-lost-write');
  });

  const not: [string, Told][] = [
    ['nobody was cut off', { pairs: [['c1', 'r1']] }],
    ['what others have may have been passed on', { pairs: [['r1', 'r2']] }],
    ['only the other way was cut', { pairs: OLD_ONE_CUT_OFF.map(([from, to]) => [to, from]) }],
    ['the write had been sent when that was proven', { cutAt: 0.9985 }],
    ['it was healed before the new one was primary', { healedAt: 1.3, promotedAt: 1.6 }],
    [
      'it was healed while the new one may have been made a replica again',
      { healedAt: 2, and: (one) => one.sample(2.55, 'r2', REPLICA) },
    ],
    ['the new one was seen to have it', { and: (one) => one.sample(1.9, 'r2', { owner: 'value-of-c1' }) }],
    [
      'the old one had started again before the other took over',
      { and: (one) => one.sample(1.01, 'r1', { runId: 'run-2' }) },
    ],
    [
      'a slot had been moved',
      {
        and: (one) =>
          one.fault(0.6, 1, 'move-slot', 'strike', {
            effects: [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: 7_495 }],
          }),
      },
    ],
  ];
  it.each(not)('is not said to have been lost where %s', (_, told) => {
    expect(named(told)).toBe('unexplained');
  });

  it('is said to have been lost by that alone where no look shows what the new one had', () => {
    /** At every look the key might have been there and not shown. */
    const unseen = (told: Told) => {
      const and = (one: Story) => one.watch(2.96, 'r2', false).watch(2.97, 'r2');
      return causeOf(overwrites(hidden(story({ ...told, promotedAt: 2.99, and })), 'r2'));
    };
    const hidden = (one: Story) => one.sample(2.98, 'r2', { unseen: [KEY] });
    const { name, chain } = unseen({});
    expect(name).toBe('failover-lost-write');
    expect(chain.map(({ text }) => text)).toContain(
      'nothing that r1 sent then came to r2, by whatever way (partition)',
    );
    expect(unseen({ pairs: [['r1', 'r2']] }).name).toBe('unexplained');
  });
});

describe('a write of a primary that was not looked at for long', () => {
  const OTHER = 'lock:1';

  /** c3 takes another lock of r1 every so often, of which all is read late, when r1 is looked at again; c1 is granted by r1 at 2 s. */
  function story({ key = OTHER, skewMs = 0, from = 1, everyS = 0.3 } = {}): Story {
    const told = new Story()
      .replicated()
      .up('c1')
      .up('c2')
      .up('c3')
      .refused('c3', 0.2, 0.3, 'fail', OTHER)
      .grant('c1', 2)
      .grant('c2', 3)
      .release('c1', 4)
      .release('c2', 4)
      .watch(0, 'r1')
      .watch(0, 'r2')
      .looks(0.3, 0.95, 'r1', { skewMs })
      .looks(0.3, 0.95, 'r2', REPLICA);
    for (let at = from; at < 1.95; at += everyS) {
      const ranMs = Math.round((at - 1.95) * 1_000);
      told.command(1.95, 'r1', 'c3', ['SET', key, `c3-${at}`, 'PX', '1', 'NX'], ranMs + skewMs);
    }
    return told
      .take(1.999, 'r1', 'c1', 'value-of-c1', skewMs)
      .looks(2.05, 3.5, 'r1', { skewMs, owner: 'value-of-c1' })
      .looks(2.05, 2.95, 'r2')
      .take(2.999, 'r2', 'c2');
  }

  it('was lost, where the old one is known to have carried out what clients wrote, whatever the key', () => {
    expect(causeOf(story()).name).toBe('failover-lost-write');
  });

  it('is not said to have been, where it did not for so long that two failovers may have come between', () => {
    expect(causeOf(story({ everyS: 2 })).name).toBe('unexplained');
    expect(causeOf(story({ from: 1.5 })).name).toBe('unexplained');
  });

  it('is not, where it is not known when it carried them out: its clock was off', () => {
    expect(causeOf(story({ skewMs: 700 })).name).toBe('unexplained');
  });
});

describe('a write of a primary that was not watched for a moment after it, and went on', () => {
  const owner = 'value-of-c1';
  const named = (shown: { owner: string } | { unseen: string[] }, isWatchedAgain = true) => {
    const told = new Story().replicated().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4);
    told.release('c2', 4).watch(0, 'r1').watch(0, 'r2').looks(0.3, 0.95, 'r1').looks(1, 1.1, 'r1', { owner });
    told.take(0.999, 'r1', 'c1').watch(1.1, 'r1', false).looks(0.3, 2, 'r2', REPLICA).looks(2.1, 2.95, 'r2');
    if (isWatchedAgain) told.watch(1.5, 'r1').looks(1.5, 1.95, 'r1', shown).watch(2.05, 'r1', false);
    return causeOf(told.take(2.999, 'r2', 'c2')).name;
  };

  it('was lost by the failover, where the key was seen there after that, or the server was gone', () => {
    expect(named({ owner })).toBe('failover-lost-write');
    expect(named({ owner }, false)).toBe('failover-lost-write');
  });

  it('is not said to have been, where it may have been removed meanwhile', () => {
    expect(named({ unseen: [KEY] })).toBe('unexplained');
  });
});

describe('a write that the new primary may have loaded with all that the old one had, which no command shows', () => {
  /** r1 grants c1 at 1 s; r2, whose link was down, loads what r1 has by 1.5 s, is primary from 2.4 s on, and grants c2 at 3 s. */
  const named = (and: (story: Story) => Story, skewMs = 0) => {
    const story = new Story().replicated().up('c1').up('c2').up('c3').grant('c1', 1).grant('c2', 3);
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').take(0.999, 'r1', 'c1');
    story.sample(1.1, 'r1', { owner: 'value-of-c1' }).sample(0.9, 'r2', { ...REPLICA, linkUp: false });
    story.sample(1.5, 'r2', { ...REPLICA, linkUp: true, unseen: [KEY] });
    and(story).sample(2.5, 'r2', { skewMs });
    return causeOf(story.take(2.999, 'r2', 'c2', 'value-of-c2', skewMs)).name;
  };
  const jump: FaultEffect = { kind: 'clock-jumped', who: ['r2'], offsetMs: 10_000 };

  it('is not said to have been lost by the failover where the new primary evicted the key, or somebody deleted it there', () => {
    expect(named((s) => s)).toBe('failover-lost-write');
    expect(named((s) => s.evicted(2.45, 'r2'))).toBe('unexplained');
    expect(named((s) => s.command(2.45, 'r2', 'c3', ['DEL', KEY]))).toBe('unexplained');
    expect(named((s) => s.command(2.45, 'r2', 'c3', ['SET', KEY, 'value-of-c3', 'PX', '20']))).toBe('unexplained');
    // When it had been looked at, and had none.
    expect(named((s) => s.command(2.7, 'r2', 'c3', ['DEL', KEY]))).toBe('failover-lost-write');
  });

  it('nor where its time was over by the clock of the new primary, which had jumped', () => {
    expect(named((s) => s.fault(2.2, 0, 'clock', 'strike', { effects: [jump] }), 10_000)).toBe('unexplained');
  });
});

it('a primary that was watched anew for a moment, before it died for good, may have come back without the write', () => {
  const named = (and: (story: Story) => Story) => {
    const story = new Story()
      .replicated()
      .up('c1')
      .up('c2')
      .grant('c1', 1)
      .grant('c2', 3)
      .release('c1', 4)
      .release('c2', 4);
    story.watch(0, 'r1').watch(0, 'r2').looks(0.3, 1, 'r1').looks(1, 1.2, 'r1', { owner: 'value-of-c1' });
    and(story.take(0.999, 'r1', 'c1').watch(1.21, 'r1', false)).sample(2.2, 'r1', { ...REPLICA, runId: 'run-3' });
    story.sample(0.9, 'r2', REPLICA).sample(1.42, 'r2', REPLICA).looks(1.5, 2.95, 'r2');
    return causeOf(story.take(2.999, 'r2', 'c2')).name;
  };
  expect(named((s) => s)).toBe('failover-lost-write');
  expect(named((s) => s.watch(1.32, 'r1').watch(1.38, 'r1', false))).toBe('unexplained');
  expect(named((s) => s.watch(2.1, 'r1'))).toBe('failover-lost-write');
});

it('a key that somebody deleted before the failover, of which the line was read seconds late, was not lost by that', () => {
  const named = (ranAt: number, readAt: number) => {
    const story = new Story().replicated().up('c1').up('c2').up('c3').grant('c1', 1).grant('c2', 3);
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').watch(0, 'r2').take(0.999, 'r1', 'c1');
    story.looks(0.3, 1, 'r1').looks(1, 1.2, 'r1', { owner: 'value-of-c1' });
    story.looks(0.3, 1.5, 'r2', REPLICA).looks(1.5, 2.95, 'r2').take(2.999, 'r2', 'c2');
    story.command(readAt, 'r1', 'c3', ['DEL', KEY], (ranAt - readAt) * 1_000).looks(readAt + 0.1, 4.5, 'r1');
    return causeOf(story).name;
  };
  for (const readAt of [1.25, 3.15, 3.75]) expect(named(1.25, readAt), `${readAt}`).toBe('unexplained');
  expect(named(3.7, 3.75)).toBe('failover-lost-write');
});
