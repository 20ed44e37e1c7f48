/** What is reckoned from the last time that a key was given must not leave out a time that came with another one's grant. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, SECOND_TAKE, twoGrants } from './two-grants.js';

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

it('who stored no more than its field is not said to have asked for the time that the hash had from another reader', () => {
  const told = (asksForTime: boolean) => {
    const story = reads(readers(), 0.6, 'c3', 3_000);
    if (asksForTime) reads(story, 0.999, 'c1', 2_000);
    else story.command(0.999, 'r1', 'c1', ['HSET', KEY, 'value-of-c1', '1']);
    const [violation] = mutualExclusion.check(writes(story, 4.999).input()).violations;
    return violation!.cause.sentence;
  };
  expect(told(true)).toMatch(/^c1 asked r1 to keep .* for 2000 ms only, of a lease of 30000 ms/);
  expect(told(false)).toMatch(
    /^c1 left .* on r1 the time that others had given it, for 2601 ms only, of a lease of 30000 ms/,
  );
});

it('a clock that jumped after a renewal is not why a key had expired whose time may have been over when that came', () => {
  const renewed = (at: number) => {
    const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, 500);
    jump(story.command(at, 'r1', 'c1', ['PEXPIRE', KEY, '5000']), 2.5, 9_000);
    return causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', 9_000));
  };
  expect(renewed(1.48)).toEqual(['clock-jumped']);
  // It came in the very millisecond in which the 500 ms were over that its client had asked for.
  expect(renewed(1.499)).toEqual(['unexplained']);
  expect(renewed(1.52)).toEqual(['lease-too-short']);
});

it('nor where the field of the holder was to expire by itself, and had', () => {
  const inHash = (fieldMs: number) => {
    const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1');
    const runs = (at: number, client: string, calls: string[][], skewMs = 0) => {
      story.command(at, 'r1', client, ['EVALSHA', 'abc', '1', KEY, client], skewMs);
      for (const call of calls) story.command(at, 'r1', 'lua', call, skewMs);
    };
    const stores = (client: string) => [
      ['exists', KEY],
      ['hset', KEY, `value-of-${client}`, '1'],
      ['pexpire', KEY, '5000'],
    ];
    const ofField = ['hpexpire', KEY, String(fieldMs), 'FIELDS', '1', 'value-of-c1'];
    runs(FIRST_TAKE, 'c1', [...stores('c1'), ofField]);
    jump(story, 2.5, 9_000);
    runs(SECOND_TAKE, 'c2', stores('c2'), 9_000);
    return causeNames(story);
  };
  expect(inHash(5_000)).toEqual(['clock-jumped']);
  expect(inHash(1_000)).toEqual(['unexplained']);
});

it('what goes to another node of a Cluster goes with the time that was left, be it less than its client had asked for', () => {
  const moved = (askedMs: number, between: (story: Story) => Story, leftMs: number) => {
    const story = new Story().up('c1').up('c2').up('c3').grant('c1', 1).grant('c2', 2.8).release('c1', 4);
    story.release('c2', 4).watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.5, 'r2');
    between(story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, askedMs));
    story.looks(0.6, 3, 'r1', { unseen: [KEY] }).looks(0.6, 2.25, 'r2', { unseen: [KEY] });
    story.command(2.1, 'r1', 'stranger', ['MIGRATE', '10.77.0.2', '6379', KEY, '0', '5000']);
    const dump = '\0\u000bvalue-of-c1 and a checksum';
    story.command(2.105, 'r2', 'stranger', ['RESTORE-ASKING', KEY, String(leftMs), dump, 'REPLACE']);
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r2'], offsetMs: 9_000 }];
    story.fault(2.28, 0, 'clock', 'strike', { effects }).looks(2.3, 3, 'r2', { unseen: [KEY], skewMs: 9_000 });
    return causeNames(story.take(2.799, 'r2', 'c2', 'value-of-c2', 9_000));
  };
  expect(moved(5_000, (story) => story, 3_899)).toEqual(['clock-jumped']);
  // c3 had shortened it.
  const shortened = (story: Story) => story.command(2, 'r1', 'c3', ['PEXPIRE', KEY, '500']);
  expect(moved(5_000, shortened, 400)).not.toContain('clock-jumped');
  // c1 had asked for little, and for all of it later.
  const prolonged = (story: Story) => story.command(1.5, 'r1', 'c1', ['PEXPIRE', KEY, '5000']);
  expect(moved(1_200, prolonged, 4_400)).toEqual(['clock-jumped']);
});
