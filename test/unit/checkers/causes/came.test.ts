/** Whether a write may have come to another node unseen: each way in which it may have is told once, beside what rules it out. */
import { describe, expect, it } from 'vitest';
import { mayHaveCome } from '../../../../checkers/causes/came.js';
import type { Contest } from '../../../../checkers/causes/contest.js';
import { Evidence } from '../../../../harness/record/facts/evidence.js';
import type { Hold } from '../../../../harness/vocabulary/verdict.js';
import { EPOCH_WALL_MS, KEY, ns, Story } from '../build.js';

const REPLICA = { role: 'replica' } as const;

interface Telling {
  /** How long c1 asked for. */
  leaseMs?: number;
  watchedFrom?: number;
  /** What r2 is seen to be. */
  looks?: (story: Story) => Story;
}

/** Not looked at for long: r2 may have loaded what r1 had, until it was primary. */
const seldom = (story: Story) => story.sample(0.5, 'r2', REPLICA).sample(2.5, 'r2');

/** c1 is granted by r1 at 1 s; r2 is primary from 2.5 s on, and grants c2 at 3 s. */
function came(told: (story: Story) => Story = (story) => story, telling: Telling = {}): boolean {
  const { leaseMs = 9_000, watchedFrom = 0.1, looks = seldom } = telling;
  const story = looks(new Story().replicated().up('c1').up('c2').grant('c1', 1, { leaseMs }).grant('c2', 3));
  story.watch(watchedFrom, 'r1').watch(0.1, 'r2').sample(0.5, 'r1').take(0.999, 'r1', 'c1', 'value-of-c1', 0, leaseMs);
  const evidence = new Evidence(told(story).take(2.999, 'r2', 'c2').input());
  const party = (node: string, client: string, at: number) => ({
    hold: { client, key: KEY, grantSentNs: ns(at - 0.002), fromNs: ns(at) } as Hold,
    write: evidence.writes(node, KEY).find(({ atNs }) => atNs === ns(at - 0.001))!,
  });
  const contest = { key: KEY, earlier: party('r1', 'c1', 1), later: party('r2', 'c2', 3) };
  return mayHaveCome(contest as Contest, evidence, ns(2.5));
}

const deleted =
  (at: number, by = 'c3') =>
  (story: Story) =>
    story.command(at, 'r1', by, ['DEL', KEY]);
const prolonged = (at: number, by: string) => (story: Story) => story.command(at, 'r1', by, ['PEXPIRE', KEY, '60000']);

it('did not come where the node was watched, and no other one had lost it', () => {
  expect(came()).toBe(false);
  expect(came((s) => s.watch(1.5, 'r2', false).watch(1.6, 'r2'))).toBe(true);
  expect(came((s) => s.sample(1.5, 'r2', { ...REPLICA, runId: 'run-2' }))).toBe(true);
});

describe('came, and was over by then', () => {
  /** What was read so late that its server was primary by then. */
  const stored = (at: number, ms: number) => (story: Story) =>
    story.command(at, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + ms)], -1_200);

  it('where a SET of the link removed what was there, since the grant and before the later one', () => {
    expect(came(stored(2.6, 500))).toBe(true);
    expect(came((story) => stored(0.7, -900)(story.sample(0.6, 'r2')).sample(0.8, 'r2', REPLICA))).toBe(false);
    expect(came((story) => stored(3.5, 500)(story).sample(3.6, 'r2', REPLICA))).toBe(false);
  });

  it('not where it stored something, or another command removed it', () => {
    expect(came(stored(2.6, 60_000))).toBe(false);
    expect(came((story) => story.command(2.6, 'r2', 'link', ['DEL', KEY], -1_200))).toBe(false);
  });
});

describe('came with all that another one had, which had lost it', () => {
  it('not where the node was seen to load nothing', () => {
    const often = (s: Story) => s.looks(0.9, 2.5, 'r2', REPLICA).looks(2.5, 3, 'r2');
    expect(came(deleted(1.5))).toBe(true);
    expect(came(deleted(1.5), { looks: often })).toBe(false);
  });

  it('since the grant, and before this one was primary for good', () => {
    const gone = (at: number) => (s: Story) => s.evicted(at, 'r1');
    expect(came(gone(1.5))).toBe(true);
    expect(came(gone(0.7))).toBe(false);
    expect(came(deleted(0.4))).toBe(false);
    expect(came(gone(2.8))).toBe(false);
    expect(came((s) => gone(2.8)(s).sample(2.7, 'r2', REPLICA))).toBe(true);
    // It was seen to be primary only after the later grant, which showed that it was.
    const late = (s: Story) => s.sample(0.5, 'r2', REPLICA).sample(3.2, 'r2').take(2.9, 'r2', 'c3');
    expect(came(gone(3.1), { looks: late })).toBe(false);
    // What this one lost itself it may have loaded before, but not before the grant.
    expect(came((s) => s.evicted(0.7, 'r2'))).toBe(false);
    expect(came((s) => s.evicted(1.5, 'r2'))).toBe(true);
  });

  it('by a command that may have removed it, unless that came from a primary', () => {
    expect(came((s) => s.command(1.5, 'r1', 'c3', ['EVALSHA', 'looks', '1', KEY]))).toBe(false);
    expect(came((s) => s.command(1.5, 'r1', 'c3', ['RESTORE', KEY, '0', 'x', 'REPLACE']))).toBe(true);
    const demoted = (by: string) => (s: Story) =>
      deleted(
        2.2,
        by,
      )(s)
        .sample(2.1, 'r1', { ...REPLICA, owner: 'value-of-c1' })
        .sample(2.3, 'r1', REPLICA);
    expect(came(demoted('link'))).toBe(false);
    expect(came(demoted('c3'))).toBe(true);
    expect(came((s) => demoted('link')(s).sample(2.25, 'r1'))).toBe(true);
  });

  it('unseen: it was not watched, or went and was there again', () => {
    expect(came(undefined, { watchedFrom: 1.2 })).toBe(true);
    expect(came((s) => s.watch(4, 'r1', false))).toBe(false);
    expect(came((s) => s.watch(1.5, 'r1', false))).toBe(false);
    expect(came((s) => s.watch(1.5, 'r1', false).sample(2, 'r1'))).toBe(true);
  });

  describe('by its time', () => {
    const short = { leaseMs: 1_200 };

    it('which only the last renewal of its own client, after the grant, puts off', () => {
      expect(came(undefined, short)).toBe(true);
      expect(came(prolonged(1.5, 'c1'), short)).toBe(false);
      expect(came(prolonged(0.4, 'c1'), short)).toBe(true);
      expect(came(prolonged(1.5, 'c3'), short)).toBe(true);
      expect(came((s) => s.take(1.6, 'r1', 'c1', 'again', 0, 60_000), short)).toBe(true);
    });

    it('by a clock that was ahead, whatever was asked for later', () => {
      const ahead = (s: Story) =>
        s
          .fault(1.5, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 }] })
          .fault(1.6, 0, 'clock', 'heal');
      expect(came(ahead)).toBe(true);
      expect(came((s) => prolonged(2.7, 'c1')(ahead(s)))).toBe(true);
    });
  });
});
