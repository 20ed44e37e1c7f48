/** What another client, or another operation of the same one, did to a holder's key; each link is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, LEASE_MS, ns, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, SECOND_TAKE, twoGrants } from './two-grants.js';

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
        .command(at, 'r1', 'lua', ['hexists', KEY, 'writer'])
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

  it('is not where the time that another gave it was over only by a step of the machine’s clock', () => {
    const stepped = (leftMs: number) => name((s) => pexpire(leftMs)(s).disturbed(2.2, 'wall-clock-step', 1_000));
    expect(stepped(1_900)).not.toContain('shortened-by-other');
    expect(stepped(900)).toEqual(['shortened-by-other']);
  });

  it('is not where that was before the holder came, whose own request left the time as it was', () => {
    const entered =
      (at: number, client: string, ...time: string[]) =>
      (s: Story) =>
        s
          .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, client])
          .command(at, 'r1', 'lua', ['hset', KEY, `value-of-${client}`, '1'])
          .command(at, 'r1', 'lua', ['pexpire', KEY, ...time]);
    const readers = twoGrants().watch(0, 'r1').sample(0.1, 'r1').up('c3').up('c4');
    // Only the first one's time counts, and c4 asks for less when c1 is not there yet.
    entered(0.2, 'c3', '30000', 'NX')(readers);
    entered(0.5, 'c4', '2000')(readers);
    entered(FIRST_TAKE, 'c1', '5000', 'NX')(readers);
    readers
      .command(SECOND_TAKE, 'r1', 'c2', ['EVAL', 'script', '1', KEY, 'c2'])
      .command(SECOND_TAKE, 'r1', 'lua', ['exists', KEY])
      .command(SECOND_TAKE, 'r1', 'lua', ['hset', KEY, 'value-of-c2', '1']);
    expect(causeNames(readers)).not.toContain('shortened-by-other');
  });

  it('is not where its clock jumped before the line of that was read, which was late', () => {
    const jumps: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 300 };
    const late = (leftMs: number, jumped: boolean) => {
      const story = grantedByR1().up('c3');
      // At 2 s c3 gave it time until 3.1 s; the jump let c2 in at 3 s.
      if (jumped) story.fault(2.05, 0, 'clock', 'strike', { effects: [jumps] });
      if (jumped) story.sample(2.4, 'r1', { skewMs: 300, unseen: [KEY] });
      story.command(2.6, 'r1', 'c3', ['PEXPIRE', KEY, String(leftMs)], -600);
      return causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', jumped ? 300 : 0));
    };
    expect(late(1_100, true)).not.toContain('shortened-by-other');
    expect(late(900, false)).toEqual(['shortened-by-other']);
  });

  it('is not where a third one took it by such a step, of which the line was read late', () => {
    const thirdTook = (leftMs: number) => {
      const story = new Story().up('c1').up('c2').up('c3').up('c4').grant('c1', 1).grant('c2', 4.2).release('c1', 5);
      story.release('c2', 5).watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1');
      pexpire(leftMs)(story).disturbed(2.2, 'wall-clock-step', 1_000);
      // It ran at 3.1 s.
      story.command(4, 'r1', 'c4', ['SET', KEY, 'value-of-c4', 'PX', '300', 'NX'], -900);
      return causeNames(story.take(4.199, 'r1', 'c2'));
    };
    expect(thirdTook(1_900)).not.toContain('shortened-by-other');
    expect(thirdTook(900)).toEqual(['shortened-by-other']);
  });

  it('is not where the field of the holder had a time of its own, that was over, too', () => {
    const inHash = (fieldMs: number) => {
      const story = twoGrants().up('c3').watch(0, 'r1').sample(0.5, 'r1');
      const runs = (at: number, client: string, ...calls: string[][]) => {
        story.command(at, 'r1', client, ['EVAL', 'script', '1', KEY, client]);
        for (const call of calls) story.command(at, 'r1', 'lua', call);
      };
      const ofField = ['hpexpire', KEY, String(fieldMs), 'FIELDS', '1', 'value-of-c1'];
      runs(FIRST_TAKE, 'c1', ['exists', KEY], ['hset', KEY, 'value-of-c1', '1'], ['pexpire', KEY, '5000'], ofField);
      pexpire(1_200, 'c3', 1.5)(story);
      runs(SECOND_TAKE, 'c2', ['exists', KEY], ['hset', KEY, 'value-of-c2', '1'], ['pexpire', KEY, '5000']);
      return causeNames(story);
    };
    expect(inHash(1_000)).not.toContain('shortened-by-other');
    expect(inHash(5_000)).toEqual(['shortened-by-other']);
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

describe('released-by-other', () => {
  /** The hash says until when each holds: c3's script takes c1's field out at 2.5 s, a jump of the server's clock having come before. */
  function told(offsetMs: number, removes: (story: Story) => Story) {
    const story = twoGrants().up('c3').watch(0, 'r1').sample(0.5, 'r1');
    const enters = (at: number, client: string, skewMs = 0) =>
      story
        .command(at, 'r1', client, ['EVAL', 'take', '1', KEY, client, '5000'], skewMs)
        .command(at, 'r1', 'lua', ['hlen', KEY], skewMs)
        .command(at, 'r1', 'lua', ['hset', KEY, client, String(EPOCH_WALL_MS + at * 1_000 + skewMs + 5_000)], skewMs);
    enters(FIRST_TAKE, 'c1');
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs }];
    removes(story.fault(1.5, 0, 'clock', 'strike', { effects }));
    enters(SECOND_TAKE, 'c2', offsetMs);
    return causeNames(story);
  }
  const cleans = (offsetMs: number) => (s: Story) =>
    s
      .command(2.5, 'r1', 'c3', ['EVAL', 'clean', '1', KEY], offsetMs)
      .command(2.5, 'r1', 'lua', ['hgetall', KEY], offsetMs)
      .command(2.5, 'r1', 'lua', ['hdel', KEY, 'c1'], offsetMs);

  it('is not said of a script by whose server’s clock, that had jumped ahead, the lease was over', () => {
    expect(told(10_000, cleans(10_000))).toEqual(['unexplained']);
    expect(told(1_000, cleans(1_000))).toEqual(['released-by-other']);
    expect(told(10_000, (s) => s.command(2.5, 'r1', 'c3', ['HDEL', KEY, 'c1'], 10_000))).toEqual(['released-by-other']);
  });

  it('is not said of what a server may have refused: it has no such database, and a Cluster has but one', () => {
    /** c1 asked for so long; somebody sends something at 2.02 s; c2 is granted it at 2.1 s. */
    const sent = (ttlMs: number, argv: string[], also = (story: Story) => story) => {
      const story = also(new Story()).up('c1').up('c2').grant('c1', 1).grant('c2', 2.1);
      story.release('c1', 4).release('c2', 4).watch(0, 'r1').command(0.3, 'r1', 'stranger', ['FLUSHALL']);
      story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, ttlMs).looks(0.5, 3, 'r1', { unseen: [KEY] });
      return causeNames(story.command(2.02, 'r1', 'stranger', argv).take(2.099, 'r1', 'c2'));
    };
    for (const argv of [
      ['MOVE', KEY, '1'],
      ['SWAPDB', '0', '1'],
    ]) {
      expect(sent(5_000, argv)).toEqual(['released-by-other']);
      expect(sent(1_050, argv, (story) => story.watch(0, 'r2'))).toEqual(['unexplained']);
    }
    for (const argv of [
      ['MOVE', KEY, '99'],
      ['SWAPDB', '0', '99'],
    ])
      expect(sent(1_050, argv)).toEqual(['unexplained']);
    expect(sent(1_050, ['MOVE', KEY, '-1'])).toEqual(['lease-too-short']);
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
    /** When its release of the first was read, which has no stamps then. */
    read?: number;
    /** By what c1's key was removed. */
    removes?: (story: Story) => Story;
  }

  /** c1 held from 0.2 s, and is granted again at 1 s; at 2 s it releases the first hold; c2 is granted at 3 s. */
  function told({
    release = 2,
    removed = 2.0005,
    by = 'c1',
    released = 4,
    key = KEY,
    read,
    removes = (story) => story.unlock(removed, 'r1', by, 'same'),
  }: Telling = {}) {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.1, 'r1');
    story.grant('c1', 0.2, { leaseMs: 300, key }).lost('c1', 0.4).grant('c1', 1).grant('c2', 3).release('c2', 5);
    if (key === KEY) story.take(0.199, 'r1', 'c1', 'same', 0, 300);
    const answered = read === undefined ? {} : { read, stamps: false };
    if (release > 0) story.release('c1', release, { hold: 1, sent: release - 0.001, ...answered });
    story.release('c1', released, { hold: 2 });
    return removes(story.take(0.999, 'r1', 'c1', 'same')).take(SECOND_TAKE, 'r1', 'c2');
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

  it('is not said of a reader whose hold as a writer, within the other, stored what was released', () => {
    // The server's clock was moved, so when it ran is not known to the millisecond.
    const skewMs = 5;
    const story = new Story().promised({ kind: 'read-write' }).up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1');
    story
      .grant('c1', 1, { mode: 'read' })
      .grant('c1', 1.012, { mode: 'write', sent: 1.004, began: 1.005, grantSent: 1.006 });
    story
      .take(1.01, 'r1', 'c1', 'writes', skewMs)
      .release('c1', 2, { hold: 2 })
      .unlock(2.0005, 'r1', 'c1', 'writes', skewMs);
    story.grant('c2', 3, { mode: 'write' }).take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', skewMs);
    expect(causeNames(story.release('c1', 4, { hold: 1 }).release('c2', 5))).toEqual(['unexplained']);
  });

  it('is named where that gave it no time any more', () => {
    const removes = (story: Story) => story.command(2.0005, 'r1', 'c1', ['PEXPIRE', KEY, '0']);
    expect(causeNames(told({ removes }))).toEqual(['released-by-itself']);
  });

  it('is named where its own extension gave it back before it had failed', () => {
    const extended = (fields = {}) =>
      told({ release: 0 }).extend('c1', 2, LEASE_MS, { hold: 2, sent: 1.999, read: 2.4, type: 'info', ...fields });
    expect(causes(extended())).toMatchObject([
      {
        name: 'released-by-itself',
        sentence: 'c1 removed its own lock:0 from r1 (EVALSHA) when it was to extend its hold #2; that let c2 have it.',
        chain: [
          { text: 'r1 granted lock:0 to c1 (SET)' },
          { text: 'c1 was told to extend its hold #2' },
          { text: 'c1 removed it with EVALSHA' },
          { text: 'r1 granted lock:0 to c2 (SET)' },
          { text: /until .* s c1's lease would have run/ },
        ].map(({ text }) => ({ text: typeof text === 'string' ? text : expect.stringMatching(text) })),
      },
    ]);
    expect(causeNames(told({ release: 0, removed: 1.9 }).extend('c1', 2, LEASE_MS, { hold: 2, sent: 1.999 }))).toEqual([
      'unexplained',
    ]);
  });

  it('is not where the removal was of no release, or of a hold of another key, or another client sent it', () => {
    expect(causeNames(told({ release: 0 }))).toEqual(['unexplained']);
    expect(causeNames(told({ removed: 1.9 }))).toEqual(['unexplained']);
    expect(causeNames(told({ removed: 2.2 }))).toEqual(['unexplained']);
    expect(causeNames(told({ key: 'lock:1' }))).toEqual(['unexplained']);
    for (const by of ['c3', 'link']) expect(causeNames(told({ by })), by).not.toContain('released-by-itself');
  });

  it('is not where it was under way to read', () => {
    for (const hold of [1, 2]) {
      const about = { client: 'c1', id: 9, op: 'read', key: KEY, hold } as const;
      const story = told({ release: 0 }).event(1.998, { type: 'invoke', ...about });
      expect(causeNames(story.event(2.002, { type: 'ok', ...about, value: 0, version: 0 }))).toEqual(['unexplained']);
    }
  });

  it('is not where the acquire that was granted had not been answered, and may have given it back itself', () => {
    expect(causeNames(told({ release: 0.998, removed: 0.9995 }))).toEqual(['unexplained']);
    // That release had begun by then, and removed it later.
    expect(causeNames(told({ release: 0.998, removed: 1.05, read: 1.1 }))).toEqual(['released-by-itself']);
    expect(causeNames(told({ release: 1.0015, removed: 1.0012 }))).toEqual(['released-by-itself']);
    expect(causeNames(told({ release: 1.006, removed: 1.0055 }))).toEqual(['released-by-itself']);
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

describe('lease-too-short by an extension', () => {
  interface Telling {
    /** What c1's script does with the key at 2 s; or what it sends without one. */
    argv?: string[];
    by?: string;
    ran?: number;
    extend?: (story: Story) => Story;
  }

  const confirmed = (story: Story) => story.extend('c1', 1.999, LEASE_MS, { read: 2.003 });
  /** c1 is granted at 1 s, and extends at 2 s; c2 is granted at 3 s. */
  function told({ argv = ['pexpire', KEY, '0'], by = 'c1', ran = 2, extend = confirmed }: Telling = {}) {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').grant('c1', 1);
    extend(story).grant('c2', 3).release('c1', 4).release('c2', 4).take(0.999, 'r1', 'c1');
    story.command(ran, 'r1', by, ['EVALSHA', 'abc', '1', KEY, 'value-of-c1']).command(ran, 'r1', 'lua', ['get', KEY]);
    return story.command(ran, 'r1', 'lua', argv).take(SECOND_TAKE, 'r1', 'c2');
  }
  const name = (telling: Telling) => causeNames(told(telling));

  it('is named where it gave the key no time, or less', () => {
    expect(causes(told())).toMatchObject([
      {
        name: 'lease-too-short',
        sentence:
          'c1 gave lock:0 no time to live (PEXPIRE), which deletes it, when it was to extend its hold #1 by 5 s; that let c2 have it.',
        chain: [
          { text: 'r1 granted lock:0 to c1 (SET)' },
          { text: 'c1 was to extend its hold #1 by 5 s' },
          { text: 'c1 gave lock:0 no time to live (PEXPIRE), which deletes it' },
          { text: 'r1 granted lock:0 to c2 (SET)' },
          { text: "until 6.999 s c1's lease would have run" },
        ],
      },
    ]);
    expect(name({ argv: ['EXPIRE', KEY, '-1'] })).toEqual(['lease-too-short']);
  });

  it('is named where the lock renewed by itself', () => {
    expect(name({ extend: (story) => story.renewed('c1', 1.999) })).toEqual(['lease-too-short']);
    expect(name({ extend: (story) => story.renewed('c1', 2.1) })).toEqual(['unexplained']);
  });

  it('is not where the extension failed, or was not answered, or none was under way', () => {
    for (const type of ['fail', 'info', 'never'] as const)
      expect(name({ extend: (story) => story.extend('c1', 1.999, LEASE_MS, { type, reason: 'gone' }) }), type).toEqual([
        'unexplained',
      ]);
    expect(name({ extend: (story) => story })).toEqual(['unexplained']);
    expect(name({ ran: 1.9 })).toEqual(['unexplained']);
    expect(name({ ran: 2.1 })).toEqual(['unexplained']);
  });

  it('is not by what the lock told of another hold, or told else, or by an extension of another client', () => {
    const another = (story: Story) => story.grant('c1', 1.5, { key: 'lock:1' }).renewed('c1', 1.999);
    expect(name({ extend: another })).toEqual(['unexplained']);
    expect(name({ extend: (story) => story.lost('c1', 1.999) })).not.toContain('lease-too-short');
    const others = (story: Story) =>
      story.grant('c2', 1.5, { key: 'lock:1' }).extend('c2', 1.999, LEASE_MS, { hold: 1, read: 2.003 });
    expect(name({ extend: others })).toEqual(['unexplained']);
  });

  it('is not where something else was under way', () => {
    const about = { client: 'c1', id: 2, op: 'read', key: KEY, hold: 1 } as const;
    const reads = (story: Story) =>
      story.event(1.998, { type: 'invoke', ...about }).event(2.002, { type: 'ok', ...about, value: 0, version: 0 });
    expect(name({ extend: reads })).toEqual(['unexplained']);
  });

  it('is not where another client sent it, or its primary, or another hold was extended', () => {
    expect(name({ by: 'c2' })).toEqual(['released-by-other']);
    expect(name({ by: 'link' })).toEqual(['unexplained']);
    const twice = (story: Story) =>
      story.grant('c1', 1.5, { key: 'lock:1' }).extend('c1', 1.999, LEASE_MS, { hold: 2 });
    expect(causes(told({ extend: twice })).map(({ name }) => name)).toEqual(['unexplained']);
  });

  it('is not where a time of day was over, or the key was deleted outright', () => {
    expect(name({ argv: ['pexpireat', KEY, '1000'] })).toEqual(['unexplained']);
    expect(name({ argv: ['del', KEY] })).toEqual(['released-by-itself']);
  });
});

describe('taken-over-by-clock, where the clock of the holder was behind', () => {
  interface Telling {
    /** What c1's request was given, and c2's, milliseconds since the run began. */
    storedMs?: number;
    toldMs?: number;
    offsetMs?: number;
    from?: number;
    effects?: FaultEffect[];
    before?: (story: Story) => Story;
    by?: string;
    leaseMs?: number;
    /** What a look finds left of c1's time just before. */
    pttlMs?: number;
    /** When c1 was told to acquire, and did. */
    grant?: { sent: number; began: number };
  }

  /** c1's clock is 20 s slow; it is granted at 3 s for 5 s, and c2's script, whose clock is right, takes the lock over at 4 s. */
  function names(telling: Telling = {}): string[] {
    const {
      offsetMs = -20_000,
      from = 1,
      before = (story: Story) => story,
      by = 'c2',
      leaseMs = LEASE_MS,
      pttlMs = 4_099,
      grant,
    } = telling;
    const { storedMs = 3_000 + offsetMs, toldMs = 4_000 } = telling;
    const { effects = [{ kind: 'clock-jumped', who: ['c1'], offsetMs }] } = telling;
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1');
    story.fault(from, 0, 'clock', 'strike', { did: 'clock of c1 set back', targets: ['c1'], effects });
    const script = (at: number, client: string, nowMs: number) => {
      const now = String(EPOCH_WALL_MS + nowMs);
      story.command(at, 'r1', client, ['EVAL', 'script', '1', KEY, `value-of-${client}`, '5000', now]);
      story.command(at, 'r1', 'lua', ['exists', KEY]);
      story.command(at, 'r1', 'lua', ['set', KEY, `value-of-${client}`, 'PX', '5000']);
    };
    story.grant('c1', 3.001, { leaseMs, ...grant });
    script(3, 'c1', storedMs);
    before(story).sample(3.9, 'r1', { owner: 'value-of-c1', pttlMs });
    story.grant('c2', 4.001);
    script(4, by, toldMs);
    if (by !== 'c2') story.command(4.0005, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000']);
    story.sample(5, 'r1', { owner: 'value-of-c2', pttlMs: 4_000 }).release('c1', 6).release('c2', 6.5);
    return causeNames(story);
  }

  it('is named', () => expect(names()).toEqual(['taken-over-by-clock']));

  it('is not of a stranger, nor of a clock that was ahead, where the holder had asked for more time since', () => {
    expect(names({ by: 'stranger' })).not.toContain('taken-over-by-clock');
    const extended = (story: Story) =>
      story.extend('c1', 3.2, 5_000).command(3.2, 'r1', 'c1', ['PEXPIRE', KEY, '5000']);
    expect(names({ offsetMs: -400, leaseMs: 1_200, before: extended })).toEqual(['taken-over-by-clock']);
    expect(names({ offsetMs: 400, leaseMs: 500, before: extended })).toEqual(['unexplained']);
  });

  it('is not where it had been extended without a time of day, and by a right clock the time of the grant was over as well', () => {
    const extended = (story: Story) =>
      story.extend('c1', 3.2, 5_000).command(3.2, 'r1', 'c1', ['PEXPIRE', KEY, '5000']);
    expect(names({ leaseMs: 1_100, before: extended })).toEqual(['taken-over-by-clock']);
    expect(names({ leaseMs: 900, before: extended })).toEqual(['unexplained']);
  });

  it('is not where the holder asked for more time since by a clock that had been set right', () => {
    const extended = (healed: boolean) => (story: Story) => {
      if (healed) story.fault(3.2, 0, 'clock', 'heal', { targets: ['c1'], beganNs: ns(3.2) });
      const now = String(EPOCH_WALL_MS + 3_500 - (healed ? 0 : 20_000));
      const argv = ['EVAL', 'script', '1', KEY, 'value-of-c1', '5000', now];
      story.extend('c1', 3.4995).command(3.5, 'r1', 'c1', argv).command(3.5, 'r1', 'lua', ['get', KEY]);
      return story.command(3.5, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'PX', '5000']);
    };
    expect(names({ before: extended(false) })).toEqual(['taken-over-by-clock']);
    expect(names({ before: extended(true) })).toEqual(['unexplained']);
  });

  it('is not where it had asked for so much time since that it was not over by its own clock', () => {
    const extended = (ms: number) => (story: Story) => {
      const argv = ['EVAL', 'script', '1', KEY, 'value-of-c1', String(ms), String(EPOCH_WALL_MS + 3_500 - 20_000)];
      story.extend('c1', 3.4995, ms).command(3.5, 'r1', 'c1', argv).command(3.5, 'r1', 'lua', ['get', KEY]);
      return story.command(3.5, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'PX', String(ms)]);
    };
    const asked = (ms: number) => names({ before: extended(ms), pttlMs: ms - 401 });
    expect(asked(20_000)).toEqual(['taken-over-by-clock']);
    expect(asked(21_000)).toEqual(['unexplained']);
    // Its key has no end of its own.
    const persisted = (story: Story) => extended(5_000)(story).command(3.6, 'r1', 'c1', ['PERSIST', KEY]);
    expect(names({ before: persisted, pttlMs: -1 })).toEqual(['taken-over-by-clock']);
  });

  it('is not where either was given no such time, or not enough had passed between the two', () => {
    expect(names({ storedMs: 3_000 })).toEqual(['unexplained']);
    expect(names({ toldMs: 24_000 })).toEqual(['unexplained']);
    expect(names({ offsetMs: -3_900 })).toEqual(['unexplained']);
    expect(names({ offsetMs: -4_100 })).toEqual(['taken-over-by-clock']);
  });

  it('is not where the clock had only just been set, or may have been anywhere, or the value may have gone', () => {
    const grant = { sent: 2.4, began: 2.95 };
    expect(names({ from: 2.5, grant })).toEqual(['unexplained']);
    // All that it asks for since was asked by the clock that was set.
    expect(names({ from: 2.5, grant: { ...grant, sent: 2.6 } })).toEqual(['taken-over-by-clock']);
    expect(names({ effects: [{ kind: 'clock-strobes', who: ['c1'], offsetMs: -20_000 }] })).toEqual(['unexplained']);
    expect(names({ effects: [{ kind: 'clock-jumped', who: ['c3'], offsetMs: -20_000 }] })).toEqual(['unexplained']);
    expect(names({ before: (story) => story.watch(3.92, 'r1', false).watch(3.94, 'r1') })).toEqual(['unexplained']);
  });
});

describe('taken-over-by-clock', () => {
  interface Telling {
    /** What c2's script was told, milliseconds since the run began. */
    toldMs?: number | string;
    from?: number;
    offsetMs?: number;
    effects?: FaultEffect[];
    healed?: number;
    by?: string;
    /** What c1's script was told of its clock. */
    holderTold?: string[];
    skewMs?: number;
    before?: (story: Story) => Story;
    inner?: string[][];
    /** What a look finds just before. */
    owner?: string;
    pttlMs?: number;
  }

  const taken = [
    ['exists', KEY],
    ['set', KEY, 'value-of-c2', 'PX', '5000'],
  ];
  const byScript = (s: Story, ...times: string[]) => {
    s.command(FIRST_TAKE, 'r1', 'c1', ['EVAL', 'script', '1', KEY, 'value-of-c1', '5000', ...times]);
    s.command(FIRST_TAKE, 'r1', 'lua', ['exists', KEY]);
    return s.command(FIRST_TAKE, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'PX', '5000']);
  };
  const NOW = String(EPOCH_WALL_MS + FIRST_TAKE * 1_000);
  /** c1 is granted at 1 s for 5 s; c2's clock is 20 s fast, and its script takes the lock over at 3 s. */
  function told(telling: Telling = {}): Story {
    const { toldMs = SECOND_TAKE * 1_000 + 20_000, from = 1.5, offsetMs = 20_000, healed, by = 'c2' } = telling;
    const {
      skewMs = 0,
      holderTold = [NOW],
      before = (story: Story) => story,
      inner = taken,
      owner = 'value-of-c1',
    } = telling;
    const { pttlMs = 3_099 } = telling;
    const { effects = [{ kind: 'clock-jumped', who: ['c2'], offsetMs }] } = telling;
    const story = before(byScript(twoGrants().watch(0, 'r1').sample(0.5, 'r1'), ...holderTold)).sample(2.9, 'r1', {
      skewMs,
      owner,
      pttlMs,
    });
    story.fault(from, 0, 'clock', 'strike', { did: 'clock of c2 set forward', targets: ['c2'], effects });
    if (healed !== undefined) story.fault(healed, 0, 'clock', 'heal', { targets: ['c2'], beganNs: healed * 1e9 });
    const now = typeof toldMs === 'string' ? toldMs : String(EPOCH_WALL_MS + toldMs);
    story.command(SECOND_TAKE, 'r1', by, ['EVAL', 'script', '1', KEY, 'value-of-c2', '5000', now], skewMs);
    for (const argv of inner) story.command(SECOND_TAKE, 'r1', 'lua', argv, skewMs);
    return story;
  }
  const names = (telling: Telling) => causeNames(told(telling));

  it('is not where the holder’s own script was told no time, and so left none behind', () => {
    expect(names({ holderTold: [] })).toEqual(['unexplained']);
    expect(names({ holderTold: [String(Number(NOW) - 1_000)] })).toEqual(['unexplained']);
  });

  it('is named where a script was told a time by which the lease was over, and stored over what was there', () => {
    expect(causes(told())).toMatchObject([
      {
        name: 'taken-over-by-clock',
        sentence:
          "c2 took lock:0 over by its own clock (EVAL), which was 20 s ahead and by which c1's lease was over; c1's value was still there.",
        chain: [
          { text: 'r1 granted lock:0 to c1 (EVAL)' },
          { text: 'clock of c2 set forward' },
          { text: 'c2 took lock:0 over by its own clock (EVAL), which was 20 s ahead' },
          { text: 'r1 granted lock:0 to c2 (EVAL)' },
          { text: "until 5.998 s c1's lease would have run" },
        ],
      },
    ]);
    const seconds = ((EPOCH_WALL_MS + 23_000) / 1_000).toFixed(0);
    expect(names({ toldMs: seconds })).toEqual(['taken-over-by-clock']);
  });

  it('is not where the holder had extended it without a time of day, and by a right clock its grant was over as well', () => {
    const takenAt = (at: number) => {
      const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').grant('c1', 1).grant('c2', at);
      const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['c2'], offsetMs: 20_000 }];
      byScript(story.fault(0.6, 0, 'clock', 'strike', { targets: ['c2'], effects }), NOW);
      story.extend('c1', 4).command(4.001, 'r1', 'c1', ['PEXPIRE', KEY, '5000']);
      const now = String(EPOCH_WALL_MS + at * 1_000 + 19_999);
      story.command(at - 0.001, 'r1', 'c2', ['EVAL', 'script', '1', KEY, 'value-of-c2', '5000', now]);
      for (const argv of taken) story.command(at - 0.001, 'r1', 'lua', argv);
      return causeNames(story.release('c1', 8.5).release('c2', 8.6));
    };
    expect(takenAt(5.9)).toEqual(['taken-over-by-clock']);
    expect(takenAt(6.1)).toEqual(['unexplained']);
    expect(takenAt(8)).toEqual(['unexplained']);
  });

  it('is not where it was told no such time', () => {
    expect(names({ toldMs: SECOND_TAKE * 1_000 })).toEqual(['unexplained']);
    expect(names({ toldMs: SECOND_TAKE * 1_000 + 5_000 })).toEqual(['unexplained']);
    expect(names({ toldMs: '20000' })).toEqual(['unexplained']);
  });

  it('is not where the clock of the holder was ahead as well, by which its lease was not over', () => {
    const ahead = (offsetMs: number) => (story: Story) =>
      story.fault(0.3, 7, 'clock', 'strike', {
        targets: ['c1'],
        effects: [{ kind: 'clock-jumped', who: ['c1'], offsetMs }],
      });
    const both = (offsetMs: number) => names({ before: ahead(offsetMs), holderTold: [String(Number(NOW) + offsetMs)] });
    expect(both(1_000)).toEqual(['taken-over-by-clock']);
    expect(both(20_000)).toEqual(['unexplained']);
  });

  it('is not where by that time the lease was not over', () => {
    const ahead = (offsetMs: number) => names({ toldMs: SECOND_TAKE * 1_000 + offsetMs, offsetMs });
    expect(ahead(2_900)).toEqual(['unexplained']);
    expect(ahead(3_100)).toEqual(['taken-over-by-clock']);
  });

  it('is not where the clock had only just been set, was right again, or may have been anywhere', () => {
    expect(names({ from: 2.5 })).toEqual(['unexplained']);
    expect(names({ healed: 2.8 })).toEqual(['unexplained']);
    expect(names({ healed: 3.2 })).toEqual(['taken-over-by-clock']);
    expect(names({ effects: [{ kind: 'clock-jumped', who: ['c1'], offsetMs: 20_000 }] })).toEqual(['unexplained']);
    expect(names({ effects: [{ kind: 'clock-strobes', who: ['c2'], offsetMs: 20_000 }] })).toEqual(['unexplained']);
    const drifts: FaultEffect = { kind: 'clock-drifts', who: ['c2'], ratePpm: 1, gainedMs: 20_000 };
    expect(names({ effects: [drifts] })).toEqual(['unexplained']);
    const jumps = (story: Story) =>
      story.fault(1.8, 1, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['c2'], offsetMs: 1 }] });
    expect(names({ before: jumps })).toEqual(['unexplained']);
  });

  it('is where its clock had been set before and was right again, or was set another time later', () => {
    const set = (at: number, until: number) => (story: Story) =>
      story
        .fault(at, 7, 'clock', 'strike', {
          targets: ['c2'],
          effects: [{ kind: 'clock-jumped', who: ['c2'], offsetMs: 5_000 }],
        })
        .fault(until, 7, 'clock', 'heal', { targets: ['c2'], beganNs: until * 1e9 });
    expect(names({ before: set(0.6, 0.7) })).toEqual(['taken-over-by-clock']);
    expect(names({ before: set(4.2, 4.3) })).toEqual(['taken-over-by-clock']);
  });

  it('is not where its clock was behind, whatever it was told', () => {
    const behind = (toldMs: number) =>
      names({
        offsetMs: -100,
        toldMs: SECOND_TAKE * 1_000 + toldMs,
        before: (story) => story.command(1.1, 'r1', 'c1', ['PEXPIRE', KEY, '1950']),
        pttlMs: 150,
      });
    expect(behind(140)).toEqual(['unexplained']);
  });

  it('is not of a server that may have taken over what another one had', () => {
    const looked = (until: number) => (story: Story) =>
      story.watch(0, 'r2').looks(0.5, 4, 'r2', { role: 'replica' }).looks(1.1, until, 'r1', { owner: 'value-of-c1' });
    expect(names({ before: looked(2.9) })).toEqual(['taken-over-by-clock']);
    expect(names({ before: looked(1.5) })).toEqual(['unexplained']);
  });

  it('is not of the holder itself', () => {
    const again = (story: Story) => {
      const now = String(EPOCH_WALL_MS + 22_000);
      story.fault(0.7, 7, 'clock', 'strike', {
        targets: ['c1'],
        effects: [{ kind: 'clock-jumped', who: ['c1'], offsetMs: 20_000 }],
      });
      story.command(2, 'r1', 'c1', ['EVAL', 'script', '1', KEY, 'again', '5000', now]);
      return story
        .command(2, 'r1', 'lua', ['exists', KEY])
        .command(2, 'r1', 'lua', ['set', KEY, 'again', 'PX', '5000']);
    };
    expect(names({ before: again, owner: 'again' })).not.toContain('taken-over-by-clock');
  });

  it("is not where the holder's value may have gone, or stayed", () => {
    expect(names({ before: (story) => story.command(2.95, 'r1', 'c3', ['DEL', KEY]) })).toEqual(['released-by-other']);
    expect(names({ before: (story) => story.watch(2.92, 'r1', false).watch(2.94, 'r1') })).toEqual(['unexplained']);
    expect(
      names({
        inner: [
          ['exists', KEY],
          ['pexpire', KEY, '5000'],
        ],
      }),
    ).toEqual(['unexplained']);
  });

  it('is not where both are there, or no script looked', () => {
    const beside = twoGrants()
      .watch(0, 'r1')
      .sample(0.5, 'r1')
      .fault(1.5, 0, 'clock', 'strike', {
        effects: [{ kind: 'clock-jumped', who: ['c2'], offsetMs: 20_000 }],
      });
    const shares = (at: number, client: string) =>
      beside
        .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, client, String(EPOCH_WALL_MS + at * 1_000 + 20_000)])
        .command(at, 'r1', 'lua', ['hexists', KEY, client])
        .command(at, 'r1', 'lua', ['hset', KEY, client, '1'])
        .command(at, 'r1', 'lua', ['pexpire', KEY, '5000']);
    shares(FIRST_TAKE, 'c1');
    shares(SECOND_TAKE, 'c2');
    expect(causeNames(beside)).toEqual(['unexplained']);

    const now = String(EPOCH_WALL_MS + SECOND_TAKE * 1_000 + 20_000);
    const sets = (s: Story) => s.command(SECOND_TAKE, 'r1', 'c2', ['SET', KEY, now, 'XX', 'PX', '5000']);
    expect(names({ by: 'c3', inner: [], before: sets })).toEqual(['unexplained']);
  });

  it("is not where the server's clock was off, or the script is its primary's", () => {
    expect(names({ skewMs: 200 })).toEqual(['unexplained']);
    expect(names({ by: 'link' })).toEqual(['unexplained']);
  });
});
