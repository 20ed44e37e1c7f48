/** What is said of a client that acted on after its lease had ended: for each link of it a story that lacks only that one. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';

const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;
const nameOf = (story: Story) => causeOf(story).name;
const texts = (story: Story) => causeOf(story).chain.map(({ text }) => text);
/** c1's lease ends at 5.998 s, c2 is granted at 6.1 s. */
const stale = (features: string[] = []) =>
  new Story().up('c1', features).up('c2').grant('c1', 1).grant('c2', 6.1).release('c2', 9);
const STOP: FaultEffect = { kind: 'stopped', who: ['c1'] };
const stopped = (story: Story, from: number) => story.fault(from, 0, 'pause', 'strike', { effects: [STOP] });
const goesOn = (story: Story, began: number, at: number) =>
  story.fault(at, 0, 'pause', 'heal', { targets: ['c1'], beganNs: began * 1e9 });

describe('a client that was stopped when its lease ended', () => {
  const went = /, and went on when it ran again\.$/;
  const unknown = (at: string) => new RegExp(`, and is not known to have run again by ${at} s\\.$`);

  it('went on where it ran again while it held, and not where it was stopped to the end', () => {
    expect(causeOf(goesOn(stopped(stale(), 3), 7, 7.01)).sentence).toMatch(went);
    expect(causeOf(stopped(stale(), 3)).sentence).toMatch(unknown('9\\.003'));
    expect(texts(stopped(stale(), 3))).not.toContain('c1 ran again');
  });

  it('did not go on where it died before it certainly ran', () => {
    const died = (at: number, began: number, done: number) => goesOn(stopped(stale().down('c1', at), 3), began, done);
    expect(causeOf(died(8, 7, 7.01)).sentence).toMatch(went);
    expect(texts(died(8, 7, 7.01))).toContain('c1 ran again');
    for (const story of [died(8, 7.995, 8.005), died(8, 8.5, 8.51)]) {
      expect(causeOf(story).sentence).toMatch(unknown('8\\.000'));
      expect(texts(story)).not.toContain('c1 ran again');
    }
    // What ended with its release was given back by a client that ran.
    expect(causeOf(goesOn(stopped(stale().release('c1', 8), 3), 7.995, 8.005)).sentence).toMatch(went);
  });
});

describe('a client that worked on for longer than it was stopped at the end of its lease', () => {
  const worked = () => stale().release('c1', 8.5, { sent: 8.4 });
  /** It was stopped for 1.5 s, and held for 2.5 s beyond its lease. */
  const paused = (story: Story, step: number) =>
    story.fault(5, step, 'pause', 'strike', { effects: [STOP] }).fault(6.5, step, 'pause', 'heal', { targets: ['c1'] });

  it('was not stopped for twice as long because two faults had it stopped at once', () => {
    expect(nameOf(paused(worked(), 0))).toBe('unexplained');
    expect(nameOf(paused(paused(worked(), 0), 1))).toBe('unexplained');
    const before = worked().fault(2, 1, 'pause', 'strike', { effects: [STOP] });
    expect(nameOf(paused(before.fault(3.1, 1, 'pause', 'heal', { targets: ['c1'] }), 0))).toBe('client-paused');
  });

  it('stood still for no longer than it was slowed, besides', () => {
    const slowed = (until: number) => {
      const slow: FaultEffect = { kind: 'slowed', who: ['c1'], stopMs: 20, everyMs: 50 };
      const story = worked().fault(2, 1, 'slow', 'strike', { effects: [slow] });
      return nameOf(paused(story.fault(until, 1, 'slow', 'heal', { targets: ['c1'] }), 0));
    };
    expect(slowed(2.5)).toBe('unexplained');
    expect(slowed(3.1)).toBe('client-paused');
  });
});

describe('a client that was cut off', () => {
  const cut = (story: Story, ...nodes: string[]) =>
    nameOf(
      story.release('c1', 8, { sent: 7.9 }).fault(3, 0, 'partition', 'strike', {
        effects: [{ kind: 'cut', pairs: nodes.map((node): [string, string] => ['c1', node]) }],
      }),
    );
  const asked = () => stale(['renews']).watch(0, 'r1');

  it('from all servers could ask none, though nobody looked which one to ask', () => {
    expect(cut(asked().watch(0, 'r2'), 'r1', 'r2')).toBe('client-cut-off');
    expect(cut(asked().watch(0, 'r2'), 'r1')).toBe('unexplained');
  });

  it('from the primary may have asked the one that took its place, at which nobody had looked since', () => {
    const replaced = (looked: number) => {
      const story = asked().watch(0, 'r2').looks(0.5, 5, 'r1').looks(0.5, looked, 'r2', { role: 'replica' });
      return story.sample(6.3, 'r1', { role: 'replica' }).sample(6.3, 'r2');
    };
    expect(cut(replaced(5), 'r1')).toBe('unexplained');
    expect(cut(replaced(6.2), 'r1')).toBe('client-cut-off');
  });

  it('from replicas may have asked a primary of which nothing was seen', () => {
    expect(cut(asked().sample(5, 'r1', { role: 'replica' }), 'r1')).toBe('unexplained');
    expect(cut(asked().sample(5, 'r1'), 'r1')).toBe('client-cut-off');
    // Nobody had looked by the end of the lease.
    expect(cut(asked().sample(6.5, 'r1', { role: 'replica' }), 'r1')).toBe('client-cut-off');
  });
});

it('a client that was slow is shown when it was told to release, if it was', () => {
  const told = 'c1 was told to release';
  expect(texts(stale().release('c1', 8, { sent: 4 }))).toContain(told);
  expect(texts(stale())).not.toContain(told);
});

describe('a client that extended its hold itself, once, and was not asked to do it again', () => {
  /** As others do, c3 extends what it holds by half of the lease; c1 did so at 1.05 s. */
  const extended = () => {
    const story = new Story().up('c1').up('c2').up('c3').sample(0.5, 'r1').sample(5.5, 'r1');
    for (const at of [10, 20, 30])
      story
        .grant('c3', at, { key: 'k2' })
        .extend('c3', at + 2.5)
        .release('c3', at + 4);
    return story.grant('c1', 1).extend('c1', 1.05).grant('c2', 6.2).release('c2', 10);
  };
  const ended = (story: Story) => nameOf(story.release('c1', 9, { sent: 8.9 }));
  const cut = (story: Story) =>
    ended(
      story.fault(3, 0, 'partition', 'strike', {
        effects: [{ kind: 'cut', pairs: [['c1', 'r1']] }],
      }),
    );
  const paused = (story: Story) => ended(goesOn(stopped(story, 3.4), 6.1, 6.11));

  it('was not kept from that, be it cut off or stopped', () => {
    expect(cut(extended())).toBe('unexplained');
    expect(paused(extended())).toBe('unexplained');
  });

  it('was where it was asked when it was cut off, or as soon as it ran again', () => {
    const asked = (at: number) => extended().extend('c1', at, 5_000, { read: 7, reason: 'unreachable' });
    expect(cut(asked(3.5))).toBe('client-cut-off');
    expect(cut(asked(2.999))).toBe('client-cut-off');
    expect(cut(asked(6.1))).toBe('unexplained');
    expect(paused(asked(6.15))).toBe('client-paused');
  });
});

describe('a client whose lock had asked for its key, which was gone, and had told it nothing before a fault struck it', () => {
  /** c3 deletes c1's key at 1.5 s, on so many nodes; c1's lock asks these at 2.66 s, unless it does so later. */
  const renewing = ({ gone = 1, count = 1, asks = true }) => {
    const story = stale(['renews']).up('c3').release('c1', 9.5, { sent: 9.4 });
    if (count > 1) story.independent(count);
    for (let n = 1; n <= count; n++) {
      story.watch(0, `r${n}`).sample(0.5, `r${n}`).take(0.999, `r${n}`, 'c1');
      if (n > gone) continue;
      story.command(1.5, `r${n}`, 'c3', ['DEL', KEY]);
      if (!asks) continue;
      story.command(2.66, `r${n}`, 'c1', ['EVALSHA', 'renew', '1', KEY, 'value-of-c1']);
      story.command(2.66, `r${n}`, 'lua', ['get', KEY]);
    }
    return story;
  };
  const cutOff = (story: Story, from = 3) =>
    nameOf(story.fault(from, 0, 'partition', 'strike', { effects: [{ kind: 'off-network', who: ['c1'] }] }));
  const pausedAt = (story: Story, from = 3) => nameOf(goesOn(stopped(story, from), 6.2, 6.21));

  it('was not kept from renewing by that', () => {
    expect(cutOff(renewing({}))).toBe('unexplained');
    expect(pausedAt(renewing({}))).toBe('unexplained');
    expect(cutOff(renewing({ gone: 2, count: 3 }))).toBe('unexplained');
  });

  it('was where it had the key, on enough nodes, or had not asked', () => {
    expect(cutOff(renewing({ gone: 1, count: 3 }))).toBe('client-cut-off');
    for (const telling of [{ gone: 0 }, { asks: false }]) {
      expect(cutOff(renewing(telling))).toBe('client-cut-off');
      expect(pausedAt(renewing(telling))).toBe('client-paused');
    }
    expect(cutOff(renewing({ asks: false }), 1.4)).toBe('client-cut-off');
  });
});

it('a client was not slow that worked for less than its lease, most of which was over when it had its answer', () => {
  // Its server had waited for replicas before it answered.
  const worked = (answered: number) =>
    nameOf(new Story().up('c1').up('c2').grant('c1', answered, { grantSent: 1 }).grant('c2', 6.1).release('c1', 6.8));
  expect(worked(5.5)).toBe('unexplained');
  expect(worked(1.7)).toBe('client-slow');
});

it('a client was not told in time, though it was stopped when all was over', () => {
  const story = stale(['renews']).release('c1', 8, { sent: 7.9 }).grant('c1', 6.3, { key: 'another' });
  const after = (at: number) => goesOn(stopped(story, at), 8.6, 8.7);
  expect(nameOf(after(8.5))).toBe('not-told');
});

describe('a grant that came when its lease was over', () => {
  /** c1's attempt left at 1 s, r1 carried it out at 6.4 s, by when the lease had ended. */
  const late = (took: boolean) => {
    const story = new Story().up('c1').up('c2').sample(0.5, 'r1').grant('c1', 6.5, { grantSent: 1 }).release('c1', 9);
    if (took) story.watch(0, 'r1');
    return texts(story.take(6.4, 'r1', 'c1').grant('c2', 6.6).release('c2', 9));
  };

  it('was carried out late by a server that was watched, for else it may have been in time', () => {
    expect(late(true)).toContain('r1 carried out the request');
    expect(late(false)).not.toContain('r1 carried out the request');
  });
});

describe('a client that does not say when the attempt left that was granted', () => {
  /** It waits for c3 up to 6 s, and another is granted the key, by a failover say, at 7 s. */
  const waited = (features: string[] = []) => {
    const story = new Story().up('c1', features).up('c2').up('c3').grant('c3', 0.5).release('c3', 6);
    return story.grant('c1', 6.1, { sent: 0.7, stamps: false });
  };

  it('was not granted late, nor slow, who may have held within its lease', () => {
    expect(nameOf(waited().grant('c2', 7).release('c1', 8).release('c2', 9))).toBe('unexplained');
    expect(nameOf(waited().grant('c2', 7).release('c1', 11.5).release('c2', 12))).toBe('client-slow');
    const queued = new Story().up('c1').up('c2').up('c3').grant('c3', 0.5).release('c3', 4.9);
    queued.grant('c1', 5, { sent: 0.7, stamps: false }).grant('c2', 6).release('c1', 8).release('c2', 9);
    expect(nameOf(queued)).toBe('unexplained');
  });

  it('was not stopped when its lease ended that may have ended later', () => {
    const paused = (from: number, until: number) => {
      const story = new Story().up('c1').up('c2').up('c3').grant('c3', 0.5).release('c3', 3.9);
      story.grant('c1', 4, { sent: 0.7, stamps: false }).grant('c2', 6).release('c1', 9.5).release('c2', 10);
      return nameOf(goesOn(stopped(story, from), until, until + 0.01));
    };
    expect(paused(5, 8.9)).toBe('unexplained');
    expect(paused(5, 9.2)).toBe('client-paused');
  });

  it('had its lease renewed in time, of which that of the grant may have been over when it was asked', () => {
    const renewed = (...at: number[]) => {
      const story = waited(['renews']);
      for (const one of at) story.renewed('c1', one);
      story.grant('c1', 7, { key: 'k2' }).grant('c1', 13.5, { key: 'k3' }).grant('c2', 12.5).release('c2', 20);
      return nameOf(story.event(15, { type: 'invoke', client: 'c1', id: 9, op: 'release', key: KEY, hold: 1 }));
    };
    expect(renewed(7.7, 9.4, 11.1)).toBe('unexplained');
  });
});
