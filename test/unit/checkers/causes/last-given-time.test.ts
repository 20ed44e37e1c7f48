/** What is reckoned from the last time that a key was given must not leave out a time that came with another one's grant. */
import { expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';
import { causeNames } from './two-grants.js';

/** c1 reads from 1 s on, c2 is to write from 5 s on; all readers are fields of one hash, which has one time. */
const readers = () => {
  const story = new Story().promised({ kind: 'read-write' }).up('c1').up('c2').up('c3');
  story.grant('c1', 1, { mode: 'read', leaseMs: 30_000 }).grant('c2', 5, { mode: 'write' });
  return story.release('c1', 6).release('c2', 6).watch(0, 'r1').sample(0.5, 'r1');
};
const reads = (story: Story, at: number, client: string, ttlMs: number) => {
  story.command(at, 'r1', client, ['EVALSHA', 'abc', '1', KEY, client, String(ttlMs)]);
  story.command(at, 'r1', 'lua', ['hset', KEY, `value-of-${client}`, '1']);
  return story.command(at, 'r1', 'lua', ['pexpire', KEY, String(ttlMs)]);
};
const writes = (story: Story, at: number, skewMs = 0) => {
  story.command(at, 'r1', 'c2', ['EVALSHA', 'def', '1', KEY, 'c2', '5000'], skewMs);
  story.command(at, 'r1', 'lua', ['exists', KEY], skewMs);
  story.command(at, 'r1', 'lua', ['hset', KEY, 'value-of-c2', '1'], skewMs);
  return story.command(at, 'r1', 'lua', ['pexpire', KEY, '5000'], skewMs);
};
const jump = (story: Story, at: number, offsetMs: number) => {
  const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs }];
  return story.fault(at, 0, 'clock', 'strike', { effects });
};

it('a clock that jumped when another reader had let the hash run out is not why it had', () => {
  const jumped = (shortened: boolean) => {
    const story = reads(readers(), 0.999, 'c1', 30_000);
    if (shortened) reads(story, 2, 'c3', 1_000);
    return causeNames(
      writes(jump(story, 4, 40_000).sample(4.1, 'r1', { skewMs: 40_000, unseen: [KEY] }), 4.999, 40_000),
    );
  };
  expect(jumped(false)).toEqual(['clock-jumped']);
  expect(jumped(true)).not.toContain('clock-jumped');
});

it('nor is the short time that its client had asked for, where another reader had given the hash more', () => {
  const asked = (prolonged: boolean) => {
    const story = reads(readers(), 0.999, 'c1', 500);
    if (prolonged) reads(story, 1.2, 'c3', 10_000);
    jump(story, 2, 40_000).sample(2.1, 'r1', { skewMs: 40_000, unseen: [KEY] });
    return causeNames(writes(story, 4.999, 40_000));
  };
  expect(asked(false)).toEqual(['lease-too-short']);
  expect(asked(true)).not.toContain('lease-too-short');
});
