/** What is not said of a key that ran out, or is: for each link of it a story that lacks only that one. */
import { describe, expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const watched = () => twoGrants().watch(0, 'r1').sample(0.5, 'r1');
const asked = (ttlMs: number, story = watched(), skewMs = 0) =>
  story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', skewMs, ttlMs);
const retaken = (story: Story, skewMs = 0) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', skewMs));
/** Finds the key gone: there is nothing to prolong. */
const prolongs = (story: Story, at: number, skewMs = 0) =>
  story.command(at, 'r1', 'c3', ['PEXPIRE', KEY, '5000'], skewMs);

/**
 * r1 is always 30 ms ahead, and the grant was read 5 ms after it ran, so that it may have run as late as that: when c2 asks the time
 * is over by r1's clock, and to the millisecond by the machine's.
 */
const granted = (ttlMs = 1_994) =>
  twoGrants()
    .watch(0, 'r1')
    .sample(0.5, 'r1', { skewMs: 30 })
    .command(1.004, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', String(ttlMs), 'NX'], 25);
const ahead = (until: (story: Story) => Story) => retaken(until(granted()), 30);

/** The take of c2 by a script that looks at the key, whatever it finds, and stores its own there. */
function takesOver(story: Story, skewMs = 0): Story {
  story.command(SECOND_TAKE, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'value-of-c2'], skewMs);
  story.command(SECOND_TAKE, 'r1', 'lua', ['get', KEY], skewMs);
  return story.command(SECOND_TAKE, 'r1', 'lua', ['set', KEY, 'value-of-c2', 'PX', '5000'], skewMs);
}

describe('a key that expired early', () => {
  it('had certainly gone: nothing is said where a SET without NX came just when its time was over', () => {
    const overwritten = (skewMs: number) =>
      causeNames(
        grantedByR1()
          .command(SECOND_TAKE - 0.0001, 'r1', 'c2', ['GET', KEY], skewMs)
          .command(SECOND_TAKE, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000'], skewMs),
      );
    expect(overwritten(2_900)).toEqual(['overwritten']);
    expect(overwritten(3_000)).toEqual(['unexplained']);
    expect(overwritten(3_010)).toEqual(['clock-jumped']);
  });

  it('was lost by its time: what a script took over was still there, though by the machine its time was over', () => {
    // The server's clock lags 100 ms behind: by that 1.9 s have passed.
    expect(causeNames(takesOver(asked(1_940), -100))).not.toContain('lease-too-short');
    expect(causeNames(takesOver(asked(1_940)))).toEqual(['lease-too-short']);
  });

  it('was lost by nothing that came unseen after its time', () => {
    const expired = () => prolongs(asked(500), 1.6);
    const removed = (story: Story) => retaken(story.command(2.2, 'r1', 'c3', ['DEL', KEY]));
    expect(removed(expired())).toEqual(['lease-too-short']);
    // c1 may have stored it again, for longer.
    expect(removed(expired().watch(1.7, 'r1', false).watch(2, 'r1'))).toEqual(['unexplained']);
    const follows = (story: Story) =>
      removed(
        story
          .sample(1.9, 'r1', { role: 'replica' })
          .sample(0.5, 'r2', { role: 'replica' })
          .sample(1.95, 'r2')
          .sample(2, 'r1'),
      );
    expect(follows(expired())).toEqual(['unexplained']);
  });

  it("was not removed by the holder's own request for no time at all, unless that was the grant itself", () => {
    const late = (between: (story: Story) => Story) => {
      const story = new Story().watch(0, 'r1').sample(0.5, 'r1').up('c1').up('c2').grant('c1', 1).release('c1', 5.9);
      story.grant('c2', 5.7).release('c2', 5.9);
      return causeNames(between(asked(4_000, story)).take(5.699, 'r1', 'c2'));
    };
    expect(late((story) => story)).toEqual(['lease-too-short']);
    expect(late((story) => story.command(2, 'r1', 'c1', ['PEXPIRE', KEY, '0']))).toEqual(['unexplained']);
    const script = watched().command(FIRST_TAKE, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'value-of-c1', '0']);
    script.command(FIRST_TAKE, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'NX']);
    expect(retaken(script.command(FIRST_TAKE, 'r1', 'lua', ['pexpire', KEY, '0']))).toEqual(['lease-too-short']);
  });

  it('is told from the little that a clock may have moved', () => {
    expect(causeNames(overwrites(asked(1_990)))).toEqual(['lease-too-short']);
    const looked = (skewMs: number) =>
      ahead((story) =>
        story.sample(2, 'r1', { skewMs, unseen: [KEY] }).sample(2.5, 'r1', { skewMs: 30, unseen: [KEY] }),
      );
    expect(ahead((story) => story)).toEqual(['lease-too-short']);
    expect(looked(-15)).toEqual(['lease-too-short']);
    expect(looked(-30)).toEqual(['unexplained']);
  });

  it('was found gone by the next one itself, where the clock was set back by then', () => {
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 };
    const jumped = () => {
      const struck = grantedByR1().fault(1.5, 0, 'clock', 'strike', { effects: [jumps] });
      const expired = prolongs(struck.sample(1.6, 'r1', { skewMs: 9_000, unseen: [KEY] }), 1.7, 9_000);
      return expired.fault(2, 0, 'clock', 'heal').sample(2.1, 'r1', { unseen: [KEY] });
    };
    expect(retaken(jumped())).toEqual(['clock-jumped']);
    expect(causeNames(overwrites(jumped()))).toEqual(['unexplained']);
  });

  it('was not found gone by one who asked for a field of its own, or who stores over what is there', () => {
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 };
    /** r1's clock was ahead for a moment: whether c1's key had expired by that only what comes later can tell. */
    const jumped = (story: Story) => {
      story.fault(1.51, 0, 'clock', 'strike', { effects: [jumps] }).fault(1.55, 0, 'clock', 'heal');
      return story.looks(1.6, 2.9, 'r1', { unseen: [KEY] });
    };
    const runs = (story: Story, at: number, client: string, ...calls: string[][]) => {
      story.command(at, 'r1', client, ['EVALSHA', 'abc', '1', KEY, client]);
      for (const call of calls) story.command(at, 'r1', 'lua', call);
      return story;
    };
    const hash = (...asks: string[]) => {
      const story = runs(watched(), FIRST_TAKE, 'c1', ['hset', KEY, 'value-of-c1', '1'], ['pexpire', KEY, '5000']);
      return causeNames(runs(jumped(story), SECOND_TAKE, 'c2', asks, ['hset', KEY, 'value-of-c2', '1']));
    };
    expect(hash('exists', KEY)).toEqual(['clock-jumped']);
    expect(hash('hexists', KEY, 'value-of-c1')).toEqual(['clock-jumped']);
    expect(hash('hexists', KEY, 'value-of-c2')).toEqual(['unexplained']);
    expect(hash('hsetnx', KEY, 'value-of-c2', '1')).toEqual(['unexplained']);
    // That it stored shows on its replica.
    const over = (word: string) => {
      const story = jumped(grantedByR1())
        .watch(0, 'r2')
        .looks(0.5, 3.2, 'r2', { role: 'replica', unseen: [KEY] });
      story.looks(0.6, 1.5, 'r1', { unseen: [KEY] });
      story.command(SECOND_TAKE, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000', word]);
      const copied = ['SET', KEY, 'value-of-c2', 'PXAT', String(EPOCH_WALL_MS + 7_999)];
      return causeNames(story.command(SECOND_TAKE + 0.001, 'r2', 'link', copied));
    };
    expect(over('NX')).toEqual(['clock-jumped']);
    expect(over('XX')).toEqual(['unexplained']);
  });

  it('was stored for less than the lease by its client, and not by a clock that was ahead when it said until when', () => {
    const until = (ms: number, skewMs: number, by = 'PXAT') => {
      const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1', { skewMs });
      story.command(FIRST_TAKE, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'NX', by, String(ms)], skewMs);
      return story;
    };
    const wallMs = EPOCH_WALL_MS + 999;
    expect(retaken(until(wallMs + 1_900, 0))).toEqual(['lease-too-short']);
    expect(retaken(until(wallMs + 5_000, 3_100), 3_100)).toEqual(['unexplained']);
    expect(retaken(until(1_900, 3_100, 'PX'), 3_100)).toEqual(['lease-too-short']);
    // Or its client's own clock was set back.
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['c1'], offsetMs: -3_100 };
    const behind = (at: number) => until(wallMs + 1_900, 0).fault(at, 0, 'clock', 'strike', { effects: [jumps] });
    expect(retaken(behind(0.7))).toEqual(['unexplained']);
    expect(retaken(behind(2))).toEqual(['lease-too-short']);
  });

  it('was still its own on its node: nothing is said of one that may have got what another server had meanwhile', () => {
    const copied = (tell: (story: Story) => Story) => {
      const story = asked(500)
        .looks(0.6, 1.9, 'r1', { unseen: [KEY] })
        .sample(0.5, 'r2', { role: 'replica' });
      return retaken(tell(prolongs(story, 1.6)));
    };
    expect(copied((story) => story.looks(1.95, 3, 'r1', { unseen: [KEY] }))).toEqual(['lease-too-short']);
    // r2 was primary for a while, and what r1 has then is r2's.
    const replaced = (story: Story) => story.sample(1.95, 'r1', { role: 'replica' }).sample(1.95, 'r2');
    expect(copied((story) => replaced(story).sample(2.1, 'r1'))).toEqual(['unexplained']);
    // Nobody looked at r1 for so long that it may have been.
    const unseen = retaken(asked(500).sample(0.6, 'r2', { role: 'replica' }));
    expect(unseen).toEqual(['unexplained']);
  });

  it("was not removed by the holder's own request in another way than by the time that it gave", () => {
    const script = watched().command(FIRST_TAKE, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'value-of-c1']);
    const sets = (story: Story, value: string, ...time: string[]) =>
      story.command(FIRST_TAKE, 'r1', 'lua', ['set', KEY, value, ...time]);
    // Others store the same to say that it is locked, so it is nobody's.
    const others = script
      .command(0.6, 'r1', 'c3', ['SET', KEY, 'locked'])
      .command(0.65, 'r1', 'c4', ['SET', KEY, 'locked']);
    others.command(0.7, 'r1', 'c4', ['DEL', KEY]);
    expect(retaken(sets(sets(others, 'value-of-c1', 'PX', '500'), 'locked', 'PX', '600'))).toEqual(['unexplained']);
  });

  it('is reckoned from when the command ran that gave the time, not from when it was read', () => {
    // Read 30 ms after it ran; its time was over 10 ms before a SET came that asks for nothing.
    const story = new Story().up('c1').up('c2').grant('c1', 1, { grantSent: 0.968 }).release('c1', 4).grant('c2', 3);
    const late = asked(2_020, story.release('c2', 4).watch(0, 'r1').sample(0.5, 'r1'), -30);
    // Its clock went to and back meanwhile, so that it was not there to the last millisecond shows nothing.
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 6_000 };
    late.fault(2, 0, 'clock', 'strike', { effects: [jumps] }).fault(2.01, 0, 'clock', 'heal');
    expect(causeNames(overwrites(late))).toEqual(['lease-too-short']);
  });

  it('was over to the millisecond only by a clock that nothing moved meanwhile, be it to and back', () => {
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 6_000 };
    const jumped = (at: number) =>
      ahead((story) =>
        story.fault(at, 0, 'clock', 'strike', { effects: [jumps] }).fault(at + 0.01, 0, 'clock', 'heal'),
      );
    expect(jumped(3.5)).toEqual(['lease-too-short']);
    expect(jumped(2)).toEqual(['unexplained']);
    // Of two servers' clocks that of the first says nothing of the other's.
    const promoted = (ttlMs: number) => {
      const until = String(EPOCH_WALL_MS + 1_029 + ttlMs);
      const story = granted(ttlMs).watch(0, 'r2').sample(0.5, 'r2', { role: 'replica', skewMs: 30 });
      story
        .command(1.005, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', until], 30)
        .looks(0.6, 2.4, 'r2', { role: 'replica', skewMs: 30, unseen: [KEY] });
      return causeNames(
        story.sample(2.5, 'r2', { skewMs: 30, unseen: [KEY] }).take(SECOND_TAKE, 'r2', 'c2', 'value-of-c2', 30),
      );
    };
    expect(promoted(1_980)).toEqual(['lease-too-short']);
    expect(promoted(1_994)).toEqual(['unexplained']);
  });

  it('is not said where the next grant was only found stored, on a server that was not watched then', () => {
    const story = twoGrants().independent(3);
    for (const node of ['r1', 'r2', 'r3']) story.watch(0, node).sample(0.5, node);
    asked(500, story).take(FIRST_TAKE, 'r2', 'c1');
    prolongs(story, 1.6).watch(2.5, 'r1', false).take(SECOND_TAKE, 'r3', 'c2');
    expect(causeNames(story.sample(3.1, 'r1', { owner: 'value-of-c2' }))).toEqual(['unexplained']);
  });
});
