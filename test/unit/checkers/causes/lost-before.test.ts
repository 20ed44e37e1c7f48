/** What a failover has not lost: what was gone from the old primary by then, and what its client stored on the new one itself. */
import { describe, expect, it } from 'vitest';
import { KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, SECOND_TAKE, twoGrants } from './two-grants.js';

const OWNER = { owner: 'value-of-c1' };
const REPLICA = { role: 'replica' } as const;

interface Told {
  /** For how long c1 asks. */
  ttlMs?: number;
  /** When it is gone from the server that granted it. */
  goneAt?: number;
  and?(story: Story): Story;
}

/** c1 and c2 are granted, while r1 and r2 hear nothing of each other. */
function cutOff(): Story {
  const pairs: [string, string][] = [
    ['r1', 'r2'],
    ['r2', 'r1'],
  ];
  return twoGrants()
    .replicated()
    .fault(0.4, 0, 'partition', 'strike', { effects: [{ kind: 'cut', pairs }] })
    .fault(4, 0, 'partition', 'heal');
}

/** r1, which is cut off from r2 from the beginning, grants c1 at 1 s; r2 takes over at 2.5 s, and grants c2 at 3 s. */
function failover({ ttlMs = 5_000, goneAt = 3, and = (one) => one }: Told = {}): string[] {
  const story = cutOff();
  for (const node of ['r1', 'r2']) story.watch(0, node);
  story.looks(0.3, 1, 'r1').take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, ttlMs).looks(0.3, 2.45, 'r2', REPLICA);
  story
    .looks(1.05, goneAt, 'r1', OWNER)
    .looks(goneAt + 0.05, 2.95, 'r1')
    .looks(2.5, 2.95, 'r2');
  return causeNames(and(story).take(SECOND_TAKE, 'r2', 'c2'));
}

const deleted = (at: number, node = 'r1') => ({
  goneAt: at,
  and: (story: Story) => story.command(at, node, 'c3', ['DEL', KEY]),
});

describe('a failover lost what was there when the new primary took over', () => {
  it('also where that was removed, or over, after that', () => {
    expect(failover()).toEqual(['failover-lost-write']);
    expect(failover(deleted(2.7))).toEqual(['failover-lost-write']);
    expect(failover({ ttlMs: 1_700, goneAt: 2.7 })).toEqual(['failover-lost-write']);
  });

  it('and not what had been removed, evicted or overwritten before, or had come to the end of its time', () => {
    expect(failover(deleted(1.5))).not.toContain('failover-lost-write');
    expect(failover({ goneAt: 1.5, and: (s) => s.evicted(1.5, 'r1') })).not.toContain('failover-lost-write');
    const set = ['SET', KEY, 'value-of-c3', 'PX', '200'];
    expect(failover({ goneAt: 1.5, and: (s) => s.command(1.5, 'r1', 'c3', set) })).not.toContain('failover-lost-write');
    expect(failover({ ttlMs: 1_000, goneAt: 2 })).not.toContain('failover-lost-write');
  });

  it('and not what was gone at the next look, after nobody watched it for a moment', () => {
    const unwatched = (one: Story) => one.watch(1.5, 'r1', false).watch(1.52, 'r1');
    expect(failover({ goneAt: 1.5, and: unwatched })).not.toContain('failover-lost-write');
    expect(failover({ and: unwatched })).toEqual(['failover-lost-write']);
  });

  it('where the time that it was granted for was over, unless its client was given more, be it by storing it again', () => {
    const again = (...argv: string[]) => ({ ttlMs: 1_000, and: (s: Story) => s.command(1.7, 'r1', 'c1', argv) });
    expect(failover(again('PEXPIRE', KEY, '5000'))).toEqual(['failover-lost-write']);
    expect(failover(again('SET', KEY, 'value-of-c1', 'XX', 'PX', '5000'))).toEqual(['failover-lost-write']);
  });

  it('and what the old one granted after that, though it was removed there before anybody read of the grant', () => {
    const story = cutOff();
    for (const node of ['r1', 'r2']) story.watch(0, node).looks(0.3, 0.75, node, node === 'r2' ? REPLICA : {});
    const [readAt, removedAt] = [FIRST_TAKE + 0.06, FIRST_TAKE + 0.03];
    story
      .looks(0.8, 2.95, 'r2')
      .take(readAt, 'r1', 'c1', 'value-of-c1', -60)
      .command(readAt + 0.001, 'r1', 'c3', ['DEL', KEY], (removedAt - readAt) * 1_000 - 1);
    expect(causeNames(story.take(SECOND_TAKE, 'r2', 'c2'))).toEqual(['failover-lost-write']);
  });

  it('and not what its client stored on the new one itself, from where it was removed between two looks', () => {
    const stores = (client: string, value?: string) => ({
      and: (s: Story) => s.take(2.61, 'r2', client, value).command(2.65, 'r2', 'c3', ['DEL', KEY]),
    });
    expect(failover(stores('c1'))).not.toContain('failover-lost-write');
    expect(failover(stores('c1', 'another'))).not.toContain('failover-lost-write');
    expect(failover(stores('c4'))).toEqual(['failover-lost-write']);
  });
});

describe('a primary that did not know yet that it was replaced', () => {
  /** r2 replaces r1 at 0.8 s, and grants c1 at 1 s; r1, which is cut off, grants c2 at 3 s. */
  function split({ ttlMs = 5_000, goneAt = 3, and = (one) => one }: Told = {}): string[] {
    const story = twoGrants().replicated().watch(0, 'r1').watch(0, 'r2').looks(0.3, 2.95, 'r1');
    story.looks(0.3, 0.75, 'r2', REPLICA).looks(0.8, 1, 'r2').take(FIRST_TAKE, 'r2', 'c1', 'value-of-c1', 0, ttlMs);
    story.looks(1.05, goneAt, 'r2', OWNER).looks(goneAt + 0.05, 3.5, 'r2');
    return causeNames(and(story).take(SECOND_TAKE, 'r1', 'c2'));
  }

  it('granted what the new one had granted, as long as that had it', () => {
    expect(split()).toEqual(['split-brain']);
    expect(split(deleted(1.5, 'r2'))).not.toContain('split-brain');
    expect(split({ ttlMs: 1_000, goneAt: 2 })).not.toContain('split-brain');
  });

  it('also where its client began to release it right after that, by its own word', () => {
    /** The DEL is on r2 a thousandth of a second after c2's grant on r1: of another client it may have come before. */
    const releasedBy = (client: string) => {
      const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 3.0005).release('c2', 4);
      story.replicated().watch(0, 'r1').watch(0, 'r2').looks(0.3, 2.95, 'r1').looks(0.3, 0.75, 'r2', REPLICA);
      story.looks(0.8, 1, 'r2').take(FIRST_TAKE, 'r2', 'c1').looks(1.05, 2.95, 'r2', OWNER);
      story.take(SECOND_TAKE, 'r1', 'c2').command(SECOND_TAKE + 0.001, 'r2', client, ['DEL', KEY]);
      return causeNames(story.looks(3.05, 3.5, 'r2'));
    };
    expect(releasedBy('c1')).toEqual(['split-brain']);
    expect(releasedBy('c3')).not.toContain('split-brain');
  });

  it('and as long as its holder had not stored it there itself', () => {
    const itself = (s: Story) => s.take(2.61, 'r1', 'c1').command(2.65, 'r1', 'c3', ['DEL', KEY]);
    expect(split({ and: itself })).not.toContain('split-brain');
  });
});
