/** Whether a run came to what must happen before a mistake can show. */
import { describe, expect, it } from 'vitest';
import type { BatchRun } from '../../../../cli/batches/batch.js';
import { unlessNotProvoked, wasProvoked } from '../../../../cli/batches/provocations.js';
import type { Job, SelftestRow } from '../../../../cli/batches/selftest-jobs.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../../checkers/build.js';

const happened = (what: Parameters<typeof wasProvoked>[0], story: Story) => wasProvoked(what, story.input());

describe('a hold past its lease', () => {
  const held = (untilS: number) => new Story().up('c1').grant('c1', 1).release('c1', untilS);

  it('is one that ended after it', () => {
    expect(happened('held-past-its-lease', held(6.5))).toBe(true);
    expect(happened('held-past-its-lease', held(5.9))).toBe(false);
  });

  it('is one that was granted when it was over', () => {
    const late = new Story().up('c1').grant('c1', 8, { grantSent: 1 }).release('c1', 8.1);
    expect(happened('held-past-its-lease', late)).toBe(true);
  });
});

it('a hold beside the next is one that another client was granted the key under', () => {
  const next = (grantedS: number) =>
    new Story()
      .up('c1')
      .up('c2')
      .grant('c1', 1)
      .grant('c2', grantedS)
      .release('c1', 6.5)
      .release('c2', grantedS + 2);
  expect(happened('held-beside-the-next', next(6.2))).toBe(true);
  expect(happened('held-beside-the-next', next(6.8))).toBe(false);
});

it('a client that died with what it had extended is one that was not told that it could not', () => {
  const died = (extend: (story: Story) => Story) =>
    happened('died-with-what-it-extended', extend(new Story().up('c1').grant('c1', 1)).down('c1', 4));
  expect(died((story) => story.extend('c1', 2))).toBe(true);
  expect(died((story) => story.extend('c1', 2, 5_000, { type: 'never' }))).toBe(true);
  expect(died((story) => story.extend('c1', 2, 5_000, { type: 'fail', reason: 'not-owner' }))).toBe(false);
  expect(died((story) => story)).toBe(false);
  expect(died((story) => story.extend('c1', 2).release('c1', 3))).toBe(false);
});

describe('a release that failed for a moment', () => {
  const failed = () =>
    new Story().up('c1').up('c2').grant('c1', 1).release('c1', 2, { type: 'fail', reason: 'unreachable' });

  it('is one after which a server answered again before the lease was over', () => {
    expect(happened('release-failed-for-a-moment', failed().grant('c2', 3, { key: 'lock:1' }))).toBe(true);
    expect(happened('release-failed-for-a-moment', failed().grant('c2', 6.5))).toBe(false);
    expect(happened('release-failed-for-a-moment', failed())).toBe(false);
  });

  it('is one whose client lives on', () => {
    const died = failed().grant('c2', 3, { key: 'lock:1' }).down('c1', 4);
    expect(happened('release-failed-for-a-moment', died)).toBe(false);
  });

  it('is none that was answered', () => {
    const released = new Story().up('c1').grant('c1', 1).release('c1', 2).grant('c1', 3);
    expect(happened('release-failed-for-a-moment', released)).toBe(false);
  });
});

it('a grant around a death is one whose attempt was under way while a server was down', () => {
  const granted = (grantSent: number, at: number, who = 'r1') => {
    const effects: FaultEffect[] = [{ kind: 'killed', who: [who] }];
    const story = new Story()
      .up('c1')
      .up('c2')
      .grant('c1', at, { grantSent })
      .release('c1', at + 0.1);
    story.fault(2, 0, 'kill', 'strike', { effects, beganNs: 2e9 }).fault(3, 0, 'kill', 'heal', { beganNs: 2.9e9 });
    return happened('granted-around-a-death', story);
  };
  expect(granted(2.4, 2.5)).toBe(true);
  expect(granted(1.9, 2.1)).toBe(true);
  expect(granted(2.9, 3.1)).toBe(true);
  expect(granted(1.8, 1.9)).toBe(false);
  expect(granted(3.1, 3.2)).toBe(false);
  expect(granted(2.4, 2.5, 'c2')).toBe(false);
});

it('a key that was left free for a lease is one that nobody was granted for so long beyond one, and somebody asked for', () => {
  const left = (told: (story: Story) => Story) =>
    happened('left-free-for-a-lease', told(new Story().up('c1').up('c2').grant('c1', 1).release('c1', 2)));
  expect(left((story) => story.grant('c2', 12.5))).toBe(true);
  expect(left((story) => story.grant('c2', 11.5))).toBe(false);
  expect(left((story) => story.refused('c2', 1.5, 12.5))).toBe(true);
  expect(left((story) => story.refused('c2', 1.5, 11.5))).toBe(false);
  expect(left((story) => story.grant('c2', 11.5, { key: 'lock:1' }).refused('c2', 12, 14, 'fail', 'lock:1'))).toBe(
    false,
  );
  const elsewhere = (story: Story) => story.grant('c2', 4, { key: 'lock:1' }).release('c2', 11);
  expect(left((story) => elsewhere(story).refused('c1', 3, 13))).toBe(true);
  expect(left((story) => story.grant('c2', 4).release('c2', 6).grant('c1', 14))).toBe(false);
  expect(left((story) => story.grant('c2', 1.5).release('c2', 4).grant('c1', 14))).toBe(false);
  expect(left((story) => story.grant('c2', 1.5).release('c2', 4).grant('c1', 14.5))).toBe(true);
  const beside = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c2', 4).release('c1', 12);
  expect(happened('left-free-for-a-lease', beside.refused('c2', 5, 15))).toBe(false);
  const given = (back: number) => new Story().up('c1').up('c2').grant('c1', 1).lost('c1', 2).release('c1', back);
  expect(happened('left-free-for-a-lease', given(12).refused('c2', 5, 15))).toBe(false);
  expect(happened('left-free-for-a-lease', given(4).refused('c2', 5, 15))).toBe(true);
});

it('only a mistake that was missed may not have been provoked', async () => {
  const job: Job = { lock: 'broken/some', argv: [], needs: 'held-past-its-lease', story: '' };
  const row = (shown: SelftestRow['shown']): SelftestRow => ({
    lock: '',
    canary: true,
    shown,
    why: '',
    story: '',
    seed: 1,
  });
  const run: BatchRun = { seed: 1, folder: '/nowhere' };
  for (const shown of ['caught', 'cannot-tell', 'could-not-run'] as const)
    expect((await unlessNotProvoked(row(shown), job, run)).shown).toBe(shown);
  const { needs, ...always } = job;
  expect((await unlessNotProvoked(row('missed'), always, run)).shown).toBe('missed');
});

describe('a key that was removed while it was held', () => {
  /** r1 grants c1 at 1 s, c2 removes that at 2 s, r1 grants c3 at 3 s, and c1 lets go at 4 s. */
  const removed = ({ by = 'c2', at = 2, granted = 3, key = KEY, how = ['DEL', KEY] } = {}) =>
    happened(
      'removed-while-held',
      ['c1', 'c2', 'c3']
        .reduce((story, client) => story.up(client), new Story())
        .grant('c1', 1)
        .grant('c3', granted, { key })
        .release('c1', 4)
        .release('c3', granted + 1)
        .watch(0, 'r1')
        .sample(0.5, 'r1')
        .take(0.999, 'r1', 'c1')
        .command(at, 'r1', by, how)
        .take(granted - 0.001, 'r1', 'c3'),
    );

  it('is one that somebody else had removed, and a third one was granted before its holder let go', () => {
    expect(removed()).toBe(true);
    expect(removed({ by: 'c1' })).toBe(false);
    expect(removed({ granted: 4.1 })).toBe(false);
    expect(removed({ at: 3.5 })).toBe(false);
    expect(removed({ at: 0.7 })).toBe(false);
    expect(removed({ key: 'lock:1' })).toBe(false);
    // Overwriting is another mistake.
    expect(removed({ how: ['SET', KEY, 'value-of-c2', 'PX', '5000'] })).toBe(false);
  });

  /** c1 holds from 1 s on and lets go at 4 s; `and`: who else is granted what, and what else r1 runs. */
  const during = (and: (story: Story) => Story) => {
    const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.3, 'r1').grant('c1', 1);
    return happened('removed-while-held', and(story.release('c1', 4).take(0.999, 'r1', 'c1')));
  };
  const next = (client: string, at: number) => (story: Story) =>
    story
      .grant(client, at)
      .release(client, at + 1)
      .take(at - 0.001, 'r1', client);

  it('is none where what was removed is what the client had stored under the same name before', () => {
    expect(during((story) => next('c3', 3)(story.command(2, 'r1', 'c2', ['DEL', KEY])))).toBe(true);
    expect(during((story) => next('c3', 3)(story.take(0.6, 'r1', 'c1').command(0.7, 'r1', 'c2', ['DEL', KEY])))).toBe(
      false,
    );
  });

  it('is none where what was removed is somebody else’s', () => {
    const retaken = (story: Story) => story.command(1.5, 'r1', 'c1', ['DEL', KEY]).take(1.6, 'r1', 'c2');
    expect(during((story) => next('c3', 3)(retaken(story).command(2, 'r1', 'c2', ['DEL', KEY])))).toBe(false);
  });

  it('is none where nobody is granted it next but the same client', () => {
    expect(during((story) => next('c1', 3)(story.command(2, 'r1', 'c2', ['DEL', KEY])))).toBe(false);
  });

  it('is none where nobody else was granted it, whoever took it', () => {
    const story = new Story().up('c1').up('c2').up('c3').grant('c1', 1).refused('c3', 2.9, 3.1).release('c1', 4);
    story.watch(0, 'r1').sample(0.5, 'r1').take(0.999, 'r1', 'c1').command(2, 'r1', 'c2', ['DEL', KEY]);
    expect(happened('removed-while-held', story.take(3, 'r1', 'c3'))).toBe(false);
  });
});
