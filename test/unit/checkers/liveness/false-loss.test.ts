import { describe, expect, it, test } from 'vitest';
import { falseLoss } from '../../../../checkers/liveness/false-loss.js';
import { KEY, ns, Story } from '../build.js';

interface Told {
  /** When the lock said that it was lost. */
  lostAt?: number;
  /** When the refresh ran that came after the release. */
  askedAt?: number;
  asks?: readonly string[];
  /** Who removed the value at 22.001 s. */
  remover?: string;
  released?: { type?: 'ok' | 'fail' | 'info'; reason?: string; stamps?: boolean };
  leaseMs?: number;
  deployed?: (story: Story) => Story;
  beside?: (story: Story) => Story;
}

const REFRESH = ['EVAL', 'abc', '1', KEY, 'value-of-c1', '5000'];

/** c1 is granted the key at 20 s and releases it at 22 s, which the server carries out at 22.001 s; then a refresh finds nothing. */
function released({
  lostAt = 22.004,
  askedAt = 22.002,
  asks = REFRESH,
  remover = 'c1',
  released: how = {},
  leaseMs = 5_000,
  deployed = (story) => story.replicated(),
  beside = (story) => story,
}: Told = {}): Story {
  const story = deployed(new Story()).up('c1').up('c2').watch(0, 'r1');
  story.grant('c1', 20, { leaseMs }).take(19.999, 'r1', 'c1', 'value-of-c1', 0, leaseMs);
  story.unlock(22.001, 'r1', remover, 'value-of-c1');
  story.release('c1', 22, how);
  if (asks.length > 0) story.command(askedAt, 'r1', 'c1', [...asks]).command(askedAt, 'r1', 'lua', ['get', KEY]);
  return beside(story.lost('c1', lostAt)).whole(40);
}

const found = (told?: Told) => falseLoss.check(released(told).input()).violations;

it('finds a lock that calls lost what its client has released, with what it asked after that', () => {
  const [violation, ...others] = found();
  expect(others).toEqual([]);
  expect(violation).toMatchObject({ class: 'liveness', kind: 'false-loss', key: KEY, holds: [{ client: 'c1' }] });
  expect(violation!.untilNs).toBe(ns(22.004));
  expect(violation!.proof).toBe(
    'c1 was granted lock:0 at 20.000 s (lease until 24.998 s) and released it at 21.999 s, which worked; 3 ms after r1 had carried that out its lock said that it was lost.',
  );
  expect(violation!.cause).toMatchObject({
    name: 'released-meanwhile',
    sentence:
      'c1 itself had removed its lock:0 from r1 (EVALSHA); what it asked after that (EVAL) found nothing, and its lock took that for a loss.',
  });
  expect(violation!.cause.chain.map(({ text }) => text)).toEqual([
    'c1 stored lock:0 on r1',
    'c1 was told to release its hold #1',
    'c1 removed it with EVALSHA',
    'c1 asked for it with EVAL',
    'c1 was told that hold #1 was lost',
  ]);
});

it('also finds what is said when the release has not been answered yet', () => {
  expect(found({ lostAt: 22.0025 })).toMatchObject([{ kind: 'false-loss' }]);
});

/** c2 is granted the key as soon as c1's release has removed it. */
const takenByNext = (story: Story) =>
  story.grant('c2', 22.003, { grantSent: 22.0012 }).take(22.0015, 'r1', 'c2').release('c2', 24).unlock(24, 'r1', 'c2');

it('does not say that nothing was there where the next one had it by then', () => {
  const [violation] = found({ beside: takenByNext });
  expect(violation!.cause.sentence).toContain('what it asked after that (EVAL) did not find it any more, and its lock');
});

describe('says nothing', () => {
  test.each<[string, Told]>([
    ['where the loss was said before the release began', { lostAt: 21.9 }],
    ['where the release was refused', { released: { reason: 'not-owner' } }],
    ['where it is not known what came of the release', { released: { type: 'info', reason: 'timeout' } }],
    ['where it is not known when the release began', { released: { stamps: false } }],
    ['where the lease was over', { leaseMs: 2_003 }],
    ['where the client asked for nothing after the removal', { asks: [] }],
    ['where what it asked came before the removal', { askedAt: 22.0005 }],
    ['where what it asked came after the word', { askedAt: 22.02 }],
    ['where all that came after the removal told others that it is free', { asks: ['PUBLISH', KEY, 'released'] }],
    ['where the release removed it once more', { asks: ['EVALSHA', 'abc', '1', KEY, 'value-of-c1'] }],
    ['where the release made sure that it is gone', { asks: ['DEL', KEY] }],
    ["where what it asked prolonged the next one's", { asks: ['PEXPIRE', KEY, '5000'], beside: takenByNext }],
    [
      'where what came after the removal is of the next acquire, which began as the word was said',
      {
        lostAt: 22.004,
        askedAt: 22.006,
        asks: ['GET', KEY],
        beside: (story) => story.grant('c1', 22.02, { sent: 22.0045, began: 22.005, grantSent: 22.0055 }),
      },
    ],
    ['where another client removed it', { remover: 'c2' }],
    ['where what came after the removal was to take it again', { asks: ['SET', KEY, 'v2', 'PX', '5000', 'NX'] }],
    ['where the client had been told to take it again', { lostAt: 22.5, beside: (story) => story.grant('c1', 22.4) }],
    ['where some commands were not seen', { beside: (story) => story.watch(21, 'r1', false).watch(21.5, 'r1') }],
    [
      'where somebody had taken it away before, and it was stored again',
      {
        beside: (story) =>
          story.command(21, 'r1', 'c2', ['DEL', KEY]).command(21.1, 'r1', 'c1', ['SET', KEY, 'value-of-c1']),
      },
    ],
    [
      'where its client was held up',
      {
        beside: (story) =>
          story
            .fault(21, 0, 'any', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })
            .fault(21.5, 0, 'any', 'heal'),
      },
    ],
    ['where the harness stood still', { beside: (story) => story.disturbed(21, 'harness-stall', 300) }],
    ['of independent nodes', { deployed: (story) => story.independent(1) }],
  ])('%s', (_, told) => {
    expect(found(told)).toEqual([]);
  });

  it('where the removal did not run within the release', () => {
    const story = new Story().replicated().up('c1').watch(0, 'r1').grant('c1', 20).take(19.999, 'r1', 'c1');
    story.unlock(21, 'r1', 'c1').release('c1', 22).command(22.002, 'r1', 'c1', REFRESH).lost('c1', 22.004).whole(40);
    expect(falseLoss.check(story.input()).violations).toEqual([]);
  });

  it('where nothing was said', () => {
    const story = new Story().replicated().up('c1').watch(0, 'r1').grant('c1', 20).take(19.999, 'r1', 'c1');
    story.unlock(22.001, 'r1', 'c1').release('c1', 22).command(22.002, 'r1', 'c1', REFRESH).whole(40);
    expect(falseLoss.check(story.input())).toMatchObject({ verdict: 'valid', stats: { falseLosses: 0 } });
  });
});
