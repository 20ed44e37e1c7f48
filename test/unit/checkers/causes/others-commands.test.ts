/** What another client, or another release of the same one, did to a holder's key; each link is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';
import { causeNames, grantedByR1, SECOND_TAKE } from './two-grants.js';

const causes = (story: Story) => mutualExclusion.check(story.input()).violations.map(({ cause }) => cause);

describe('shortened-by-other', () => {
  /** c1 is granted at 1 s for 5 s; what happens; c2 is granted at 3 s. */
  const told = (between: (story: Story) => Story, skewMs = 0) =>
    between(grantedByR1().up('c3')).sample(2.99, 'r1', { skewMs }).take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', skewMs);
  const shortens = (at: number, by: string, argv: string[]) => (s: Story) => s.command(at, 'r1', by, argv);
  const pexpire = (ms: number, by = 'c3', at = 2) => shortens(at, by, ['PEXPIRE', KEY, String(ms)]);
  const name = (between: (story: Story) => Story, skewMs = 0) => causeNames(told(between, skewMs));

  it('is named where another client gave the key less time than it had', () => {
    expect(causes(told(pexpire(500)))).toMatchObject([
      {
        name: 'shortened-by-other',
        sentence:
          'c3 gave lock:0, which had 3.999 s left, 500 ms to live (PEXPIRE), while c1 held it; it had expired on r1 when c2 was granted it.',
        chain: [
          { text: 'r1 granted lock:0 to c1 (SET)' },
          { text: 'c3 gave lock:0, which had 3.999 s left, 500 ms to live (PEXPIRE)' },
          { text: 'r1 granted lock:0 to c2 (SET)' },
          { text: "until 5.998 s c1's lease would have run" },
        ],
      },
    ]);
  });

  it('is named where a reader comes to a hash for a shorter time', () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
    story.watch(0, 'r1').sample(0.5, 'r1');
    const enters = (at: number, client: string, ms: number) =>
      story
        .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, client, String(ms)])
        .command(at, 'r1', 'lua', ['hset', KEY, client, '1'])
        .command(at, 'r1', 'lua', ['pexpire', KEY, String(ms)]);
    enters(0.999, 'c1', 5_000);
    enters(2, 'c3', 500);
    enters(SECOND_TAKE, 'c2', 5_000);
    expect(causeNames(story)).toEqual(['shortened-by-other']);
  });

  it('is named where it had no end, and though somebody was refused it since', () => {
    const [endless] = causes(told((s) => pexpire(500)(s.command(1.5, 'r1', 'c1', ['PERSIST', KEY]))));
    expect(endless).toMatchObject({ name: 'shortened-by-other', sentence: expect.stringContaining('had no end left') });
    const refused = (s: Story) => s.command(2.2, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'NX', 'PX', '5000']);
    expect(name((s) => refused(pexpire(500)(s)))).toEqual(['shortened-by-other']);
  });

  it('is not where its own client did, or a stranger, or its primary', () => {
    for (const by of ['c1', 'stranger', 'link']) expect(name(pexpire(500, by)), by).not.toContain('shortened-by-other');
  });

  it('is not where it was prolonged again, or had been about to end as soon', () => {
    expect(name((s) => pexpire(400, 'c1', 2.2)(pexpire(500)(s)))).not.toContain('shortened-by-other');
    expect(name((s) => pexpire(300, 'c3', 2.1)(pexpire(700, 'c1', 2)(s)))).not.toContain('shortened-by-other');
    expect(name((s) => pexpire(300, 'c3', 2.1)(pexpire(2_000, 'c1', 2)(s)))).toEqual(['shortened-by-other']);
  });

  it('is not where by the clock of its server the time before was over, too, or the new one was not', () => {
    expect(name(pexpire(500), 3_500)).not.toContain('shortened-by-other');
    expect(name(pexpire(500), 1_000)).toEqual(['shortened-by-other']);
    expect(name(pexpire(1_500), -600)).not.toContain('shortened-by-other');
    // A server may know more words than the reading does.
    expect(name(shortens(2, 'c3', ['PEXPIRE', KEY, '500', 'PERHAPS']))).not.toContain('shortened-by-other');
  });

  it('is not where something else took it, or may have', () => {
    expect(name((s) => pexpire(500)(s).command(2.2, 'r1', 'c3', ['DEL', KEY]))).toEqual(['released-by-other']);
    expect(name((s) => pexpire(500)(s).command(2.2, 'r1', 'c1', ['DEL', KEY]))).toEqual(['unexplained']);
    expect(name((s) => pexpire(500)(s).watch(2.1, 'r1', false).watch(2.11, 'r1'))).not.toContain('shortened-by-other');
    expect(
      name((s) => s.watch(1.5, 'r1', false).watch(1.51, 'r1').sample(1.6, 'r1', { owner: 'value-of-c1' })),
    ).not.toContain('shortened-by-other');
  });
});

describe('released-by-itself', () => {
  interface Telling {
    /** Begins c1's release of its first hold; without it there is none. */
    release?: number;
    removed?: number;
    by?: string;
    released?: number;
    key?: string;
  }

  /** c1 held from 0.2 s, and is granted again at 1 s; at 2 s it releases the first hold; c2 is granted at 3 s. */
  function told({ release = 2, removed = 2.0005, by = 'c1', released = 4, key = KEY }: Telling = {}) {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.1, 'r1');
    story.grant('c1', 0.2, { leaseMs: 300, key }).lost('c1', 0.4).grant('c1', 1).grant('c2', 3).release('c2', 5);
    if (key === KEY) story.take(0.199, 'r1', 'c1', 'same', 0, 300);
    if (release > 0) story.release('c1', release, { hold: 1, sent: release - 0.001 });
    story.release('c1', released, { hold: 2 });
    return story.take(0.999, 'r1', 'c1', 'same').unlock(removed, 'r1', by, 'same').take(SECOND_TAKE, 'r1', 'c2');
  }

  it('is named where the release of another hold of the key removed it', () => {
    expect(causes(told())).toMatchObject([
      {
        name: 'released-by-itself',
        sentence:
          'c1 removed its own lock:0 from r1 (EVALSHA) by the release of its hold #1, while it held it by #2; that let c2 have it.',
        chain: [
          { text: 'r1 granted lock:0 to c1 (SET)' },
          { text: 'c1 was told to release its hold #1' },
          { text: 'c1 removed it with EVALSHA' },
          { text: 'r1 granted lock:0 to c2 (SET)' },
          { text: "until 5.998 s c1's lease would have run" },
        ],
      },
    ]);
  });

  it('is not where the removal was of no release, or of a hold of another key, or another client sent it', () => {
    expect(causeNames(told({ release: 0 }))).toEqual(['unexplained']);
    expect(causeNames(told({ removed: 1.9 }))).toEqual(['unexplained']);
    expect(causeNames(told({ removed: 2.2 }))).toEqual(['unexplained']);
    expect(causeNames(told({ key: 'lock:1' }))).toEqual(['unexplained']);
    expect(causeNames(told({ by: 'c3' }))).not.toContain('released-by-itself');
  });

  it("is not where only another client's release was under way, or another operation", () => {
    expect(causeNames(told({ release: 0 }).extend('c1', 2, 300, { hold: 1, sent: 1.999 }))).toEqual(['unexplained']);
    const story = told({ release: 0 }).up('c3').grant('c3', 0.6, { leaseMs: 200 }).lost('c3', 0.7);
    expect(causeNames(story.release('c3', 2, { hold: 1, sent: 1.999 }))).toEqual(['unexplained']);
  });

  it('is not where the release of this one may have removed it', () => {
    expect(causeNames(told({ release: 0, removed: 2.9985, released: 3.0012 }))).toEqual(['unexplained']);
    const own = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.1, 'r1').grant('c1', 1).grant('c2', 3);
    own.release('c1', 3.5).release('c2', 5).take(0.999, 'r1', 'c1').unlock(2, 'r1', 'c1').take(SECOND_TAKE, 'r1', 'c2');
    expect(causeNames(own)).toEqual(['unexplained']);
  });
});
