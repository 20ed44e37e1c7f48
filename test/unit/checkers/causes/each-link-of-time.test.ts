/** What is not said of a key that ran out, or is: for each link of it a story that lacks only that one. */
import { describe, expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const watched = () => twoGrants().watch(0, 'r1').sample(0.5, 'r1');
const asked = (ttlMs: number, story = watched()) => story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, ttlMs);
const retaken = (story: Story, skewMs = 0) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', skewMs));
/** Finds the key gone: there is nothing to prolong. */
const prolongs = (story: Story, at: number, skewMs = 0) =>
  story.command(at, 'r1', 'c3', ['PEXPIRE', KEY, '5000'], skewMs);

/** The take of c2 by a script that looks at the key, whatever it finds, and stores its own there. */
function takesOver(story: Story, skewMs = 0): Story {
  story.command(SECOND_TAKE, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'value-of-c2'], skewMs);
  story.command(SECOND_TAKE, 'r1', 'lua', ['get', KEY], skewMs);
  return story.command(SECOND_TAKE, 'r1', 'lua', ['set', KEY, 'value-of-c2', 'PX', '5000'], skewMs);
}

describe('a key that expired early', () => {
  it('had certainly gone: nothing is said where a SET that asks for nothing came just when its time was over', () => {
    const overwritten = (skewMs: number) =>
      causeNames(grantedByR1().command(SECOND_TAKE, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000'], skewMs));
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
    // A server that is always 30 ms ahead; the grant was read 5 ms after it ran, so that it may have run as late as that.
    const ahead = (until: (story: Story) => Story) => {
      const sent = ['SET', KEY, 'value-of-c1', 'PX', '1994', 'NX'];
      const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1', { skewMs: 30 }).command(1.004, 'r1', 'c1', sent, 25);
      return retaken(until(story), 30);
    };
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
});
