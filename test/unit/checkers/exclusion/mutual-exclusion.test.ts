import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { ns, Story } from '../build.js';

const judged = (story: Story) => mutualExclusion.check(story.input());
const classes = (story: Story) => judged(story).violations.map((violation) => violation.class);

describe('rejects', () => {
  it('two holds at once while both leases ran', () => {
    const result = judged(
      new Story().grant('c1', 3.12, { grantSent: 3.1 }).grant('c4', 4.188).release('c4', 4.9).release('c1', 5),
    );
    expect(result).toMatchObject({ verdict: 'invalid', stats: { exclusion: 1, stale: 0, holds: 2 } });
    expect(result.violations).toHaveLength(1);
    expect(result.violations[0]).toMatchObject({
      class: 'exclusion',
      kind: 'overlap',
      key: 'lock:0',
      fromNs: ns(4.188),
      untilNs: ns(4.9),
    });
    expect(result.violations[0]!.evidence).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(result.violations[0]!.proof).toBe(
      'c1 certainly held lock:0 from 3.120 s to 5.000 s (lease until 8.100 s); c4 certainly held it from 4.188 s to 4.900 s (lease until 9.186 s); both leases ran for 712 ms.',
    );
    expect(result.violations[0]!.holds.map(({ client }) => client)).toEqual(['c1', 'c4']);
  });

  it('an overlap of a microsecond, if both leases ran', () => {
    expect(classes(new Story().grant('c1', 1).grant('c2', 2).release('c1', 2.000001).release('c2', 3))).toEqual([
      'exclusion',
    ]);
  });

  it('two processes of one slot', () => {
    expect(classes(new Story().grant('c1', 1).grant('c1.2', 2).release('c1', 3).release('c1.2', 3))).toEqual([
      'exclusion',
    ]);
  });

  it('a holder that acts on after its lease had ended, as stale', () => {
    const result = judged(
      new Story().grant('c1', 1, { grantSent: 1 }).grant('c2', 6.01).release('c2', 8).release('c1', 9),
    );
    expect(result.violations).toHaveLength(1);
    expect(result.violations[0]).toMatchObject({ class: 'stale', fromNs: ns(6.01), untilNs: ns(8) });
    expect(result.violations[0]!.proof).toContain('c1 acted on for 1.99 s after its lease had ended, beside c2.');
  });

  it('a holder that acts on for however long under a lock without leases, as broken exclusion', () => {
    const story = (lease?: 'none') =>
      new Story().up('c1', [], lease).grant('c1', 1).grant('c2', 60).release('c2', 61).release('c1', 63);
    expect(classes(story())).toEqual(['stale']);
    const result = judged(story('none'));
    expect(result).toMatchObject({ verdict: 'invalid', stats: { exclusion: 1, stale: 0, grantedLate: 0 } });
    expect(result.violations).toHaveLength(1);
    expect(result.violations[0]).toMatchObject({ class: 'exclusion', fromNs: ns(60), untilNs: ns(61) });
    expect(result.violations[0]!.proof).toBe(
      'c1 certainly held lock:0 from 1.000 s to 63.000 s (no lease); c2 certainly held it from 60.000 s to 61.000 s (no lease); both held for 1 s.',
    );
  });

  it('a holder that acts on when the lock had said that it would be over, as stale', () => {
    const story = (validForMs: number) =>
      new Story().grant('c1', 1, { grantSent: 1, validForMs }).grant('c2', 5.1).release('c2', 5.2).release('c1', 5.5);
    expect(classes(story(4_000))).toEqual(['stale']);
    expect(classes(story(4_948))).toEqual(['exclusion']);
  });

  it('a grant that came after its own lease had ended, as stale', () => {
    const result = judged(
      new Story()
        .grant('c1', 8, { sent: 1, began: 1, grantSent: 1 })
        .grant('c2', 7)
        .release('c1', 8.5)
        .release('c2', 9),
    );
    expect(result.violations).toMatchObject([{ class: 'stale', cause: { name: 'granted-late' }, fromNs: ns(8) }]);
    expect(result.stats.grantedLate).toBe(1);
  });

  it('every pair, earliest first', () => {
    const story = new Story()
      .grant('c1', 1)
      .grant('c2', 2)
      .grant('c3', 3)
      .release('c1', 4)
      .release('c2', 4)
      .release('c3', 4);
    story.grant('c4', 0.5, { key: 'lock:1' }).grant('c5', 0.6, { key: 'lock:1' }).release('c4', 1).release('c5', 1);
    const pairs = judged(story).violations.map(({ holds }) => holds.map(({ client }) => client).join('+'));
    expect(pairs).toEqual(['c4+c5', 'c1+c2', 'c1+c3', 'c2+c3']);
  });

  it('more overlaps than are told one by one, by their number and the earliest of them', () => {
    const story = new Story();
    for (let n = 0; n < 1_003; n++) {
      const at = 10 + n * 10;
      story
        .grant('c1', at)
        .grant('c2', at + 1)
        .release('c2', at + 2)
        .release('c1', at + 3);
    }
    const result = judged(story);
    expect(result).toMatchObject({
      verdict: 'invalid',
      found: { exclusion: 1_003 },
      stats: { exclusion: 1_003, stale: 0 },
    });
    expect(Object.keys(result.found!)).toEqual(['exclusion']);
    expect(result.violations).toHaveLength(1_000);
    expect(result.violations[0]!.fromNs).toBe(ns(11));
    // Those that are all told have no number of their own.
    expect(judged(new Story().grant('c1', 1).grant('c2', 2).release('c1', 3).release('c2', 3)).found).toBeUndefined();
  });

  it('of both classes, in the order in which they became true', () => {
    const story = new Story()
      .grant('c1', 1, { grantSent: 1 })
      .grant('c2', 6.5)
      .release('c2', 7)
      .release('c1', 8)
      .grant('c3', 2, { key: 'lock:1' })
      .grant('c4', 3, { key: 'lock:1' })
      .release('c4', 4)
      .release('c3', 4.5)
      .grant('c5', 9, { key: 'lock:2' })
      .grant('c6', 10, { key: 'lock:2' })
      .release('c6', 11)
      .release('c5', 12);
    expect(classes(story)).toEqual(['exclusion', 'stale', 'exclusion']);
  });

  it('a lease that was renewed and broken all the same', () => {
    expect(
      classes(new Story().grant('c1', 1).renewed('c1', 4).grant('c2', 7).release('c1', 8).release('c2', 9)),
    ).toEqual(['exclusion']);
  });
});

describe('accepts', () => {
  it('holds in turn, also when one begins at the instant in which the other ends', () => {
    expect(judged(new Story().grant('c1', 1).release('c1', 2).grant('c2', 2).release('c2', 3))).toMatchObject({
      verdict: 'valid',
      violations: [],
    });
  });

  it('holds of different keys', () => {
    expect(
      classes(new Story().grant('c1', 1).grant('c2', 1.5, { key: 'lock:1' }).release('c1', 2).release('c2', 2)),
    ).toEqual([]);
  });

  it("a grant within the margin of a lease's end, to a holder that ended in time", () => {
    // The lease of c1 ends at 6.000 s; its certain part at 5.993 s.
    const story = (at: number) =>
      new Story().grant('c1', 1, { grantSent: 1 }).grant('c2', at).release('c1', 5.999).release('c2', 7);
    expect(classes(story(5.9935))).toEqual([]);
    expect(classes(story(5.992))).toEqual(['exclusion']);
  });

  it('a holder that acted on for no longer than the margin after its lease', () => {
    const story = (until: number) =>
      new Story().grant('c1', 1, { grantSent: 1 }).grant('c2', 6.001).release('c1', until).release('c2', 7);
    expect(classes(story(6.0069))).toEqual([]);
    expect(classes(story(6.0071))).toEqual(['stale']);
  });

  it('a grant after the other client was killed, or told that it lost the lock', () => {
    expect(classes(new Story().grant('c1', 1).down('c1', 2).grant('c2', 2.5).release('c2', 3))).toEqual([]);
    expect(
      classes(new Story().grant('c1', 1).lost('c1', 2).grant('c2', 2.5).release('c1', 3).release('c2', 3)),
    ).toEqual([]);
  });

  it('an overlap with an acquire of unknown outcome', () => {
    expect(classes(new Story().grant('c1', 1).refused('c2', 1.5, 2, 'info').release('c1', 3))).toEqual([]);
  });

  it('an overlap that is not proven: a release that was sent and never answered', () => {
    expect(
      classes(
        new Story()
          .grant('c1', 1)
          .release('c1', 9, { sent: 2, type: 'never' })
          .grant('c2', 3)
          .release('c2', 4)
          .down('c1', 9),
      ),
    ).toEqual([]);
  });

  it('what only a clock out of order would show', () => {
    // c1 says that its answer came before it asked; by the harness's stamps the holds do not overlap.
    const story = new Story()
      .grant('c1', 1, { began: 0.2, sent: 0.5, read: 1.1 })
      .release('c1', 4, { sent: 2 })
      .grant('c2', 3)
      .release('c2', 5);
    const result = judged(story);
    expect(result.verdict).toBe('valid');
    expect(result.notes).toContainEqual(
      expect.stringMatching(/^c1 is held to the harness's stamps: .*began 0.200 s lies before sent 0.500 s/),
    );
  });

  it('two refused tries', () => {
    expect(classes(new Story().refused('c1', 1, 2).refused('c2', 1, 2))).toEqual([]);
  });
});

describe('cannot tell', () => {
  const early = (at: number) =>
    new Story().grant('c1', 1, { grantSent: 1 }).grant('c2', at).release('c1', 5.9).release('c2', 7);

  it("an overlap that a step of the machine's clock may have made", () => {
    const result = judged(early(5.5).disturbed(3, 'wall-clock-step', 800));
    expect(result).toMatchObject({ verdict: 'unknown', violations: [], stats: { doubtful: 1 } });
    expect(result.notes[0]).toMatch(/need not be the lock's doing.*stepped by 800 ms at about 3.000 s/);
  });

  it('and which of the classes are open: those in doubt, and both where one may be hidden', () => {
    expect(judged(early(5.5).disturbed(3, 'wall-clock-step', 800)).open).toEqual(['exclusion', 'stale']);
    const stalled = late(7.99).disturbed(4, 'harness-stall', 3_980);
    expect(judged(stalled).open).toEqual(['stale']);
    expect(judged(late(7.99)).open).toEqual([]);
  });

  it('overlaps of which there are many: some are told, the others counted', () => {
    const story = new Story();
    for (let n = 0; n < 13; n++) {
      const [at, key] = [10 + n * 10, `lock:${n}`];
      story
        .grant('c1', at, { key, grantSent: at })
        .grant('c2', at + 5.1, { key })
        .release('c1', at + 7, { sent: at + 6.99 })
        .release('c2', at + 8)
        .disturbed(at + 3, 'harness-stall', 3_980);
    }
    const { notes, stats } = judged(story);
    expect(stats.doubtful).toBe(13);
    expect(notes.filter((note) => note.startsWith('an overlap that need not be'))).toHaveLength(10);
    expect(notes).toContain('3 more overlaps like these');
    expect(judged(late(7.99).disturbed(4, 'harness-stall', 3_980)).notes.join()).not.toContain('more overlap');
  });

  it('but accuses where the step was too small for it, or at another time', () => {
    expect(judged(early(5.5).disturbed(3, 'wall-clock-step', 300)).verdict).toBe('invalid');
    expect(judged(early(5.5).disturbed(6, 'wall-clock-step', 800)).verdict).toBe('invalid');
    expect(judged(early(5.5).disturbed(0.2, 'wall-clock-step', 700)).verdict).toBe('invalid');
  });

  it('a pass during which the clock was stepped, however little, but not slewed', () => {
    const fine = () => new Story().grant('c1', 1).release('c1', 2).grant('c2', 3).release('c2', 4);
    expect(judged(fine().disturbed(2, 'wall-clock-step', -6))).toMatchObject({ verdict: 'unknown' });
    expect(judged(fine().disturbed(2, 'wall-clock-step', 4))).toMatchObject({ verdict: 'valid' });
  });

  it('whether there are more than the known findings, which fail nothing and hide no doubt', () => {
    // A certain overlap, and a step of the clock that may hide another one.
    const found = (allowed?: boolean) =>
      judged(
        new Story()
          .grant('c1', 1)
          .grant('c2', 2)
          .release('c1', 3)
          .release('c2', 3)
          .disturbed(5, 'wall-clock-step', -300)
          .configured(allowed === undefined ? {} : { known: { fingerprints: [], allowed } }),
      );
    const hidden = expect.stringMatching(/^an overlap may be hidden: .*stepped by -300 ms/);
    expect(found(true)).toMatchObject({ verdict: 'unknown', violations: [{ class: 'exclusion' }] });
    expect(found(true).notes).toContainEqual(hidden);
    for (const allowed of [false, undefined]) {
      expect(found(allowed).verdict).toBe('invalid');
      expect(found(allowed).notes).not.toContainEqual(hidden);
    }
  });

  // The lease ends at 6 s, the harness was to release well before.
  const late = (sent: number, release = 8) =>
    new Story().grant('c1', 1, { grantSent: 1 }).grant('c2', 6.1).release('c1', release, { sent }).release('c2', 9);

  it('a stale holder that the harness was too late to end', () => {
    const result = judged(late(7.99).disturbed(4, 'harness-stall', 3_980));
    expect(result).toMatchObject({ verdict: 'unknown', violations: [] });
    expect(result.notes[0]).toMatch(/stood still for 3.98 s from 4.000 s on, when it had to end c1's hold/);
  });

  it('but accuses where the harness had told the client in time, or stalled at another time', () => {
    expect(judged(late(4.5).disturbed(5, 'harness-stall', 2_500)).verdict).toBe('invalid');
    expect(judged(late(4.5).disturbed(4.49, 'harness-stall', 2_500)).verdict).toBe('invalid');
    expect(judged(late(7.99).disturbed(2, 'harness-stall', 2_000)).verdict).toBe('invalid');
    expect(judged(late(7.99).disturbed(8.1, 'harness-stall', 500)).verdict).toBe('invalid');
  });

  it('a stale holder whose grant the harness read too late by as much, but by no less', () => {
    const read = (at: number) =>
      new Story().grant('c1', 1, { grantSent: 1, read: at }).grant('c2', 6.1).release('c1', 6.6).release('c2', 9);
    const result = judged(read(2.8).disturbed(1.05, 'harness-stall', 1_700));
    expect(result).toMatchObject({ verdict: 'unknown', violations: [] });
    expect(result.notes[0]).toMatch(/stood still for 1.7\d* s before it read that c1 held/);
    // It lasted for 0.6 s after its lease.
    expect(judged(read(1.5).disturbed(1.01, 'harness-stall', 480)).verdict).toBe('invalid');
    // The client was slow to tell: nothing stood still.
    expect(judged(read(2.8).disturbed(3, 'harness-stall', 1_700)).verdict).toBe('invalid');
    // Prolonged, and only that was read late.
    const prolonged = (at: number) =>
      new Story()
        .grant('c1', 1, { grantSent: 1 })
        .extend('c1', 2, 5_000, { read: at })
        .grant('c2', 7.1)
        .release('c1', 7.6)
        .release('c2', 9);
    expect(judged(prolonged(3.8).disturbed(2.05, 'harness-stall', 1_700)).verdict).toBe('unknown');
    expect(judged(prolonged(2.5).disturbed(2.05, 'harness-stall', 400)).verdict).toBe('invalid');
  });

  it('a client without stamps of its own is told, and no other', () => {
    const story = (stamps: boolean) => judged(new Story().grant('c1', 1, { stamps }).release('c1', 2).grant('c2', 3));
    const note = expect.stringMatching(/^1 client without own stamps held to the harness's/);
    expect(story(false).notes).toContainEqual(note);
    expect(story(true).notes).toEqual([expect.stringMatching(/^decided by a sweep/)]);
  });

  it('and in a scenario, where nothing but the play ends a hold', () => {
    const played = late(7.99).disturbed(4, 'harness-stall', 3_980).configured({ scenario: 'a play' });
    expect(judged(played).verdict).toBe('invalid');
  });

  it("a stalled harness does not affect exclusion: the stamps are the clients' own", () => {
    expect(judged(early(5.5).disturbed(1, 'harness-stall', 5_000)).verdict).toBe('invalid');
  });

  it('an overlap with a client whose death was noticed late', () => {
    const story = (stall: number) =>
      new Story()
        .grant('c1', 1)
        .grant('c2', 2.5)
        .release('c2', 3)
        .down('c1', 3.2)
        .disturbed(stall, 'harness-stall', 1_200);
    expect(judged(story(2)).verdict).toBe('unknown');
    expect(judged(story(2.6)).verdict).toBe('invalid');
  });

  it('an overlap with a client whose process ended by itself, if nothing was heard of it while they overlapped', () => {
    const story = (reason: string) =>
      new Story().grant('c1', 1).grant('c2', 2.5).release('c2', 3).down('c1', 3.2, reason);
    const result = judged(story('exited by itself (status 1)'));
    expect(result).toMatchObject({ verdict: 'unknown', violations: [] });
    expect(result.notes[0]).toMatch(/c1's process ended by itself, seen at 3.200 s, .* last heard at 1.000 s/);
    expect(judged(story('exited by itself (SIGSEGV)')).verdict).toBe('invalid');
    expect(judged(story('killed by the nemesis')).verdict).toBe('invalid');
    // It prolonged its lease, or said that it did, beside the other.
    const heard = () => new Story().grant('c1', 1).grant('c2', 2.5);
    const dies = (story: Story) => story.release('c2', 3).down('c1', 3.2, 'exited by itself (status 1)');
    expect(judged(dies(heard().extend('c1', 2.7))).verdict).toBe('invalid');
    expect(judged(dies(heard().renewed('c1', 2.7))).verdict).toBe('invalid');
    // And a stale holder, whose lease was over.
    const late = (sign: (story: Story) => Story) =>
      sign(new Story().grant('c1', 1).grant('c2', 6.1)).release('c2', 7).down('c1', 6.5, 'exited by itself (status 1)');
    expect(judged(late((story) => story)).verdict).toBe('unknown');
  });

  it('does not say "unknown" for a class that does not fail the run', () => {
    const stalled = late(7.99)
      .disturbed(4, 'harness-stall', 3_980)
      .configured({ failOn: ['exclusion'] });
    expect(judged(stalled).verdict).toBe('valid');
  });
});

describe('a lock that may be held by several', () => {
  const readers = () =>
    new Story()
      .promised({ kind: 'read-write' })
      .grant('c1', 1, { mode: 'read' })
      .grant('c2', 1.5, { mode: 'read' })
      .release('c1', 2);

  it('is right to let readers in together, and wrong to let a writer in beside one', () => {
    expect(classes(readers().release('c2', 3).grant('c3', 3.1, { mode: 'write' }).release('c3', 4))).toEqual([]);
    expect(classes(readers().grant('c3', 2.5, { mode: 'write' }).release('c2', 3).release('c3', 4))).toEqual([
      'exclusion',
    ]);
  });

  it('has two permits, and granted three', () => {
    const two = () => new Story().promised({ kind: 'semaphore', permits: 2 }).grant('c1', 1).grant('c2', 1.2);
    expect(classes(two().release('c1', 2).grant('c3', 2.1).release('c2', 3).release('c3', 3))).toEqual([]);
    const result = judged(two().grant('c3', 1.9).release('c1', 2).release('c2', 3).release('c3', 3));
    expect(result.violations.map(({ holds }) => holds.map(({ client }) => client))).toEqual([['c1', 'c3', 'c2']]);
    expect(result.violations[0]!.proof).toMatch(/; all 3 leases ran for 100 ms\.$/);
  });

  it('may be taken again by its owner, which renews what it holds', () => {
    const nested = () =>
      new Story()
        .promised({ kind: 'reentrant', depth: 2 })
        .grant('c1', 1, { grantSent: 1 })
        .grant('c1', 4)
        .release('c1', 8);
    expect(classes(nested())).toEqual([]);
    // The outer hold never ended; its lease, which ran from 1 s, was set anew at 4 s.
    expect(classes(nested().grant('c2', 7).release('c2', 7.5))).toEqual(['exclusion', 'exclusion']);
  });
});

it('counts every overlap, and lists the first thousand', () => {
  const story = new Story();
  for (let n = 0; n < 1_200; n++) {
    const [a, b] = [`a${n}`, `b${n}`];
    story
      .grant(a, n + 1)
      .grant(b, n + 1.2)
      .release(a, n + 1.5)
      .release(b, n + 1.6);
  }
  const result = judged(story);
  expect(result).toMatchObject({ verdict: 'invalid', found: { exclusion: 1_200 }, stats: { exclusion: 1_200 } });
  expect(result.violations).toHaveLength(1_000);
  expect(result.violations.at(-1)!.holds[0]!.client).toBe('a999');
});

it('names a hold that the harness itself gave twice as the bug that it is', () => {
  expect(() => judged(new Story().grant('c1', 1).grant('c1', 2).release('c1', 3))).toThrow(
    /bug in the harness: c1 was led to hold lock:0 twice/,
  );
});

it('mentions clients that do not stamp', () => {
  const result = judged(new Story().grant('c1', 1, { stamps: false }).release('c1', 2, { stamps: false }));
  expect(result.notes).toContainEqual(expect.stringMatching(/^1 client without own stamps held to the harness's/));
});
