/** Which clock took a key, by how much, and what is not said of it: for each link of that a story that lacks only that one. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { FIRST_TAKE, grantedByR1, SECOND_TAKE, twoGrants } from './two-grants.js';

const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;
const nameOf = (story: Story) => causeOf(story).name;
const texts = (story: Story) => causeOf(story).chain.map(({ text }) => text);
const retaken = (story: Story, skewMs = 0) => story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', skewMs);
const watched = () => twoGrants().watch(0, 'r1').sample(0.5, 'r1');
const asked = (ttlMs: number, story = watched()) => story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, ttlMs);
/** Finds the key gone: there is nothing to prolong. */
const prolongs = (story: Story, at: number, skewMs = 0) =>
  story.command(at, 'r1', 'c3', ['PEXPIRE', KEY, '5000'], skewMs);

const jump = (offsetMs: number, who = 'r1'): FaultEffect => ({ kind: 'clock-jumped', who: [who], offsetMs });
/** It gains so many milliseconds in a second. */
const drift = (gainsMs: number, who = 'r1'): FaultEffect => ({
  kind: 'clock-drifts',
  who: [who],
  ratePpm: gainsMs * 1_000,
  gainedMs: 0,
});
const strikes = (story: Story, at: number, effect: FaultEffect, step = 1) =>
  story.fault(at, step, 'clock', 'strike', { effects: [effect] });
const heals = (story: Story, at: number, step = 1) => story.fault(at, step, 'clock', 'heal');

describe('how far a clock was ahead', () => {
  it('is told of where it was when the next one asked, though it had been further ahead before', () => {
    const story = grantedByR1().sample(1.6, 'r1', { skewMs: 9_000, unseen: [KEY] });
    expect(causeOf(retaken(story, 6_000)).sentence).toBe(
      "r1's clock was 6.0 s ahead of where it was when c1's lock:0 was last given time, so it had expired there before its lease had, and c2 was granted it.",
    );
  });

  it('is told in milliseconds where it was less than a second, and can be all that was left', () => {
    const cause = causeOf(retaken(asked(2_030), 100));
    expect(cause.name).toBe('clock-jumped');
    expect(cause.sentence).toContain('was 100 ms ahead');
  });

  it('must have been seen where it was set back before the time was over by it', () => {
    const seenBy = (story: Story) => nameOf(retaken(prolongs(story, 1.7, 9_000), 2_980));
    expect(seenBy(grantedByR1())).toBe('unexplained');
    expect(seenBy(grantedByR1().sample(1.6, 'r1', { skewMs: 9_000, unseen: [KEY] }))).toBe('clock-jumped');
  });
});

describe('a drift', () => {
  const fast = (gainsMs: number, story = grantedByR1()) => strikes(story, 1.3, drift(gainsMs));

  it('suffices with what a clock is known to at least, and needs as much more where something else moved it', () => {
    expect(nameOf(retaken(fast(1_754), 3_010))).toBe('clock-ran-fast');
    const jumped = (gainsMs: number, skewMs: number) =>
      nameOf(retaken(strikes(fast(gainsMs), 2.5, jump(3_000), 2), skewMs));
    expect(jumped(5_000, 11_495)).toBe('clock-ran-fast');
    expect(jumped(2_900, 7_927)).toBe('unexplained');
  });

  it('is not told from another one at the same time, but from one before the grant, and from one after', () => {
    expect(nameOf(retaken(strikes(fast(1_000), 1.4, drift(1_000), 2), 3_250))).toBe('unexplained');
    expect(nameOf(retaken(strikes(fast(2_000), 3.2, drift(2_000), 2), 3_398))).toBe('clock-ran-fast');
    const before = heals(strikes(watched(), 0.2, drift(2_000), 2), 0.3, 2).take(FIRST_TAKE, 'r1', 'c1');
    expect(nameOf(retaken(fast(2_000, before), 3_398))).toBe('clock-ran-fast');
  });

  it('that was healed may have hidden a jump back', () => {
    expect(nameOf(retaken(heals(fast(5_000), 2.5), 6_000))).toBe('clock-ran-fast');
    const back = () => fast(5_000, strikes(grantedByR1(), 1.2, jump(-500), 2));
    expect(nameOf(retaken(heals(back(), 2.2), 4_000))).toBe('unexplained');
    const later = retaken(heals(back(), 3.5), 7_995);
    expect(nameOf(later)).toBe('clock-ran-fast');
    expect(texts(later)).not.toContain("r1's clock was set right");
  });

  it('is refuted by a look, together with the one before the grant, if there was one', () => {
    const looked = (skewMs: number, story = grantedByR1()) =>
      nameOf(retaken(fast(2_000, story).sample(2.4, 'r1', { skewMs, unseen: [KEY] }), 3_398));
    expect(looked(2_200)).toBe('clock-ran-fast');
    expect(looked(900)).toBe('unexplained');
    const sent = ['SET', KEY, 'value-of-c1', 'PX', '5000'];
    const story = fast(2_000, twoGrants().watch(0, 'r1').command(FIRST_TAKE, 'r1', 'c1', sent));
    const first = retaken(story.sample(2.4, 'r1', { skewMs: 900, unseen: [KEY] }), 3_398);
    expect(nameOf(first)).toBe('clock-ran-fast');
    expect(texts(first).join()).not.toContain('was read');
  });
});

describe('a command that may have been read late', () => {
  /** r1's clock gains a second in each since 0.1 s; c1's attempt left at `grantSent`. */
  const drifting = (grantSent = 0.998) => {
    const story = new Story().up('c1').up('c2').grant('c1', 1, { grantSent }).grant('c2', 3);
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').sample(0.12, 'r1', { skewMs: 20 });
    return strikes(story, 0.1, drift(1_000));
  };

  it('may have asked for what was over by any clock', () => {
    // It ran at 0.6 s, when r1's clock showed 1.1 s, and its time was over at 2.9 s.
    const granted = (grantSent: number) => {
      const take = drifting(grantSent).take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 101, 2_300);
      return nameOf(retaken(take, 2_899));
    };
    expect(granted(0.15)).toBe('unexplained');
    const atOnce = drifting().take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 899, 2_300);
    expect(nameOf(retaken(atOnce, 2_899))).toBe('clock-ran-fast');
    // By a clock that tells when it ran.
    const sent = new Story().up('c1').up('c2').grant('c1', 1, { grantSent: 0.2 }).grant('c2', 3).release('c1', 4);
    sent.release('c2', 4).watch(0, 'r1').sample(0.15, 'r1').take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, 2_300);
    expect(nameOf(retaken(sent, 6_000))).toBe('clock-jumped');
  });

  it('may have been a renewal', () => {
    // It ran at 1.6 s, when r1's clock showed 3.1 s, and its time was over at 2.9 s.
    const late = drifting().take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 899);
    expect(nameOf(retaken(late.command(2, 'r1', 'c1', ['PEXPIRE', KEY, '1300'], 1_100), 2_899))).toBe('unexplained');
    // So late that its time was over is later than anything is read.
    const renewed = new Story().up('c1').up('c2').grant('c1', 1).renewed('c1', 3.999).grant('c2', 5).release('c1', 6);
    renewed.release('c2', 6).watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1');
    strikes(renewed, 3.5, drift(2_000)).command(4, 'r1', 'c1', ['PEXPIRE', KEY, '2500'], 1_000);
    expect(nameOf(renewed.take(4.999, 'r1', 'c2', 'value-of-c2', 2_998))).toBe('clock-ran-fast');
  });
});

describe('the clocks of two servers', () => {
  /** r1's grant came to r2, whose clock was 6 s ahead, and which was made primary at 2.5 s. */
  const promoted = (tell: (story: Story) => Story = (story) => story) => {
    const sent = ['SET', KEY, 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + 5_999)];
    const story = grantedByR1()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica', skewMs: 6_000 })
      .command(1, 'r2', 'link', sent, 6_000)
      .looks(0.6, 2.4, 'r2', { role: 'replica', skewMs: 6_000 })
      .sample(2.5, 'r2', { skewMs: 6_000 });
    return causeOf(tell(story).take(SECOND_TAKE, 'r2', 'c2', 'value-of-c2', 6_000));
  };
  /** A drift of r2 that was over before the grant. */
  const drifted = (story: Story, gainsMs = 20_000, node = 'r2') =>
    heals(strikes(story, 0.1, drift(gainsMs, node)), 0.4);

  it('are told from each other', () => {
    const sentence =
      "r2's clock was 6.0 s ahead of where r1's was when c1's lock:0 was last given time, so it had expired there before its lease had, and c2 was granted it.";
    expect(promoted()).toMatchObject({ name: 'clock-jumped', sentence });
    expect(promoted((story) => strikes(story, 0.3, jump(6_000, 'r2')))).toMatchObject({
      name: 'clock-jumped',
      sentence,
    });
    expect(promoted(drifted)).toMatchObject({ name: 'clock-ran-fast', sentence });
  });

  it('are not compared where it was seen by its own alone that the time was over', () => {
    const sent = ['SET', KEY, 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + 5_999)];
    const story = grantedByR1().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).command(1, 'r2', 'link', sent);
    story.looks(0.6, 1.9, 'r2', { role: 'replica', unseen: [KEY] });
    story.sample(2, 'r2', { role: 'replica', unseen: [KEY], skewMs: 9_000 });
    story.looks(2.1, 2.4, 'r2', { role: 'replica' }).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2');
    const cause = causeOf(story.sample(3.1, 'r2', { owner: 'value-of-c2' }));
    expect(cause.name).toBe('clock-jumped');
    expect(cause.sentence).toContain("r2's clock was 9.0 s ahead of where it was when");
  });

  it('are those of the server on which it was over, also where another one granted the lock later', () => {
    const from = (value: string, wallMs: number) => ['SET', KEY, value, 'PXAT', String(EPOCH_WALL_MS + wallMs)];
    const story = grantedByR1().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
    story
      .command(1, 'r2', 'link', from('value-of-c1', 5_999))
      .looks(0.6, 2.4, 'r2', { role: 'replica', unseen: [KEY] });
    story.looks(0.6, 1.9, 'r1', { unseen: [KEY] }).looks(2, 2.4, 'r1', { skewMs: 6_000, unseen: [KEY] });
    story
      .up('c3')
      .take(2.2, 'r1', 'c3', 'value-of-c3', 6_000)
      .command(2.201, 'r2', 'link', from('value-of-c3', 13_200));
    story.unlock(2.3, 'r1', 'c3', 'value-of-c3', 6_000).command(2.301, 'r2', 'link', ['DEL', KEY]);
    const cause = causeOf(story.sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'));
    expect(cause.name).toBe('clock-jumped');
    expect(cause.sentence).toContain("r1's clock was 6.0 s ahead of where it was when");
  });

  it('are both looked at for what moved them by then, and neither is named where more than one kind of thing did', () => {
    const andJumped = (at: number) => promoted((story) => strikes(drifted(story), at, jump(100), 2)).name;
    expect(andJumped(0.2)).toBe('unexplained');
    expect(andJumped(1.5)).toBe('clock-ran-fast');
  });

  it('do not run fast where the one by which the time was reckoned ran slow', () => {
    expect(promoted((story) => drifted(story, -20_000, 'r1')).name).toBe('unexplained');
  });
});
