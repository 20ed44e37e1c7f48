import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { fencing } from '../../../../checkers/harm/fencing.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { Story } from '../build.js';
import { acquire, checkInput, KEY, ns, release, type Told } from '../literal.js';

const FENCED: LockModel = { kind: 'fenced' };
const judged = (...told: Told[][]) => fencing.check(checkInput(told.flat(), FENCED));

it('rejects a token that is lower than an earlier one', () => {
  const result = judged(
    acquire('c1', 1, { at: 1, token: 7 }),
    release('c1', 2, { at: 2, hold: 1 }),
    acquire('c2', 1, { at: 3, token: 5 }),
  );
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { tokens: 2, fencesNotRisen: 1, fenceInversions: 1, fenceRepeats: 0 },
    violations: [
      {
        class: 'harm',
        kind: 'fence-inversion',
        key: KEY,
        fromNs: ns(1.001),
        untilNs: ns(3.001),
        evidence: [0, 1, 4, 5],
        cause: { name: 'unexplained', chain: [{ history: 1 }, { history: 5 }] },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    'c1 had token 7 of lock:0 at 1.001 s; the attempt that was granted to c2 left after that, at 3.000 s, and was given token 5, which is lower.',
  );
  expect(result.violations[0]!.holds.map(({ client }) => client)).toEqual(['c1', 'c2']);
});

it('rejects a token that was issued before, also where the two grants were made at the same time', () => {
  const later = judged(acquire('c1', 1, { at: 1, token: 7 }), acquire('c2', 1, { at: 3, token: 7 }));
  expect(later).toMatchObject({
    verdict: 'invalid',
    stats: { fencesNotRisen: 1, fenceInversions: 0, fenceRepeats: 1 },
    violations: [{ kind: 'fence-repeat', proof: expect.stringMatching(/given token 7, which is the same\.$/) }],
  });
  const concurrent = judged(
    acquire('c1', 1, { at: 1, until: 2, token: 7 }),
    acquire('c2', 1, { at: 1.5, until: 2.5, token: 7 }),
  );
  expect(concurrent).toMatchObject({
    verdict: 'invalid',
    stats: { fencesNotRisen: 1, fenceRepeats: 1 },
    violations: [{ kind: 'fence-repeat', proof: expect.stringMatching(/no resource can tell them apart/) }],
  });
});

it('accepts tokens that rise, with gaps, and by key', () => {
  expect(
    judged(
      acquire('c1', 1, { at: 1, token: 3 }),
      acquire('c2', 1, { at: 1, token: 3, key: 'lock:1' }),
      acquire('c2', 2, { at: 2, token: 9 }),
      acquire('c1', 2, { at: 3, token: 4, key: 'lock:1' }),
    ),
  ).toMatchObject({ verdict: 'valid', violations: [], notes: [], stats: { tokens: 4, fencesNotRisen: 0 } });
});

it('takes equal stamps as concurrent: which of the two was granted first is unknown', () => {
  const story = (secondAsked: number) =>
    judged(acquire('c1', 1, { at: 1, until: 2, token: 7 }), acquire('c2', 1, { at: secondAsked, until: 3, token: 5 }));
  expect(story(2).verdict).toBe('valid');
  expect(story(2.000000001).verdict).toBe('invalid');
});

it('orders grants by when the granted attempt left, not by when the waiting began', () => {
  const waited = (grantSent: number) =>
    judged(
      acquire('c1', 1, { at: 1, until: 4, grantSent, token: 5 }),
      acquire('c2', 1, { at: 1.5, until: 2, token: 6 }),
      release('c2', 2, { at: 3, hold: 1 }),
    );
  // c1 drew 5 before it waited: its attempt left after c2 had 6.
  expect(waited(3.9)).toMatchObject({ verdict: 'invalid', violations: [{ kind: 'fence-inversion' }] });
  // c1's one attempt left before c2 had its answer, which may have overtaken it.
  expect(waited(2).verdict).toBe('valid');
});

it("holds a client without stamps to the harness's, which lie further apart", () => {
  const grants = (stamps: boolean) => {
    const [sent, read] = acquire('c1', 1, { at: 1, until: 2, token: 7, stamps });
    return judged([sent!, { ...read!, at: 2.2 }], acquire('c2', 1, { at: 2.1, until: 3, token: 5 }));
  };
  expect(grants(true).verdict).toBe('invalid');
  expect(grants(false).verdict).toBe('valid');
});

it('says that more may be wrong where not every grant had a token, though one had none higher', () => {
  const falls = [acquire('c1', 1, { at: 1, token: 7 }), acquire('c2', 1, { at: 3, token: 5 })];
  expect(judged(...falls)).toMatchObject({ verdict: 'invalid' });
  expect(judged(...falls).open).toBeUndefined();
  expect(judged(...falls, acquire('c3', 1, { at: 5 })).open).toEqual(['harm']);
});

it('cannot tell where a fenced lock gave no tokens, or not with every grant', () => {
  expect(judged(acquire('c1', 1, { at: 1 }), acquire('c2', 1, { at: 3 }))).toMatchObject({
    verdict: 'unknown',
    notes: ['none of 2 grants came with a fencing token that can be judged'],
  });
  expect(judged(acquire('c1', 1, { at: 1, token: 1 }), acquire('c2', 1, { at: 3 }))).toMatchObject({
    verdict: 'unknown',
    notes: ['1 of 2 grants came without a fencing token that can be judged'],
  });
  expect(judged(acquire('c1', 1, { at: 1, type: 'fail', reason: 'held' }))).toMatchObject({ verdict: 'unknown' });
  // Two tokens of which each may be 2^53 + 1.
  const large = [2 ** 53 + 2, 2 ** 53 + 2].map((token, n) => acquire(`c${n}`, 1, { at: n + 1, token }));
  expect(judged(...large).verdict).toBe('unknown');
});

it('asks nothing of a lock that promises no tokens, nor of permits, readers and nested grants', () => {
  const falling = (options: object = {}) =>
    [
      acquire('c1', 1, { at: 1, token: 7, ...options }),
      release('c1', 2, { at: 2, hold: 1 }),
      acquire('c2', 1, { at: 3, token: 5, ...options }),
    ].flat();
  const judgedBy = (model: LockModel, told: Told[]) => fencing.check(checkInput(told, model)).verdict;
  expect(fencing.check(checkInput(acquire('c1', 1, { at: 1 }))).verdict).toBe('valid');
  expect(judgedBy({ kind: 'mutex' }, falling())).toBe('invalid');
  expect(judgedBy({ kind: 'semaphore', permits: 2 }, falling())).toBe('valid');
  expect(judgedBy({ kind: 'read-write' }, falling({ mode: 'read' }))).toBe('valid');
  expect(judgedBy({ kind: 'read-write' }, falling({ mode: 'write' }))).toBe('invalid');
  const nested = (by: string) =>
    [
      acquire('c1', 1, { at: 1, token: 7 }),
      acquire(by, 2, { at: 2, token: 7 }),
      release('c1', 3, { at: 3, hold: 1 }),
    ].flat();
  expect(judgedBy({ kind: 'reentrant', depth: 2 }, nested('c1'))).toBe('valid');
  expect(judgedBy({ kind: 'reentrant', depth: 2 }, nested('c2'))).toBe('invalid');
});

it('counts every pair of a counter that started again, and reports the first 200 grants', () => {
  const grants = Array.from({ length: 600 }, (_, n) =>
    acquire('c1', n, { at: n + 1, token: n < 300 ? n + 1 : n - 299 }),
  );
  // Each later grant has a token that was given out before, beside all higher ones: 300 × 299 / 2 pairs fall.
  const releases = grants.map((_, n) => release('c1', 1_000 + n, { at: n + 1.5, hold: n }));
  const result = judged(...grants, ...releases);
  expect(result).toMatchObject({
    stats: { fencesNotRisen: 300, fenceInversions: (300 * 299) / 2, fenceRepeats: 300 },
    found: { harm: 300 },
  });
  expect(result.violations).toHaveLength(200);
  const untilNs = result.violations.map((violation) => violation.untilNs);
  expect(untilNs[0]).toBe(ns(301.001));
  expect(untilNs).toEqual(untilNs.toSorted((a, b) => a - b));
});

describe('why a token did not rise', () => {
  /** c1 is granted at 1 s, c2 at 3 s, with the same token. */
  const repeated = (token = 7) => new Story().up('c1').up('c2').grant('c1', 1, { token: 7 }).grant('c2', 3, { token });
  const nodes = (story: Story) =>
    story
      .watch(0, 'r1')
      .watch(0, 'r2')
      .sample(0.5, 'r1')
      .sample(0.5, 'r2', { role: 'replica' })
      .sample(2, 'r2', { role: 'replica' })
      .sample(2.5, 'r2');
  const causeOf = (story: Story) => {
    const { violations } = fencing.check(story.input());
    expect(violations).toHaveLength(1);
    return violations[0]!.cause;
  };
  /** r2 replaces r1 without having heard of c1's grant. */
  const failover = (story = repeated()) => nodes(story).takeCounted(0.999, 'r1', 'c1').takeCounted(2.999, 'r2', 'c2');

  it('is a failover that lost the write, and with it the count', () => {
    const { name, sentence, chain } = causeOf(failover());
    expect(name).toBe('failover-lost-write');
    expect(sentence).toBe(
      "r2 replaced r1 as primary without c1's lock:0, and granted it to c2. Tokens are counted in {lock:0}:fence by the same script, so that count was missing with it.",
    );
    expect(chain.map(({ text }) => text)).toEqual([
      'r1 granted lock:0 to c1 (EVAL)',
      'r1 counted {lock:0}:fence up in the script that granted it to c1',
      'r2 was a replica',
      'r2 was primary',
      'r2, as primary, had no lock:0',
      'r2 granted lock:0 to c2 (EVAL)',
      'r2 counted {lock:0}:fence up in the script that granted it to c2',
      "until 5.998 s c1's lease would have run",
    ]);
    expect(causeOf(failover(repeated(5))).name).toBe('failover-lost-write');
  });

  it('is a node that forgot what it had granted, and counted', () => {
    const fence = `{${KEY}}:fence`;
    const begun = (count = '6') =>
      repeated().watch(0, 'r1').sample(0.5, 'r1').command(0.9, 'r1', 'c3', ['SET', fence, count]);
    const forgotten = (counted: (story: Story) => Story, counter?: string, count?: string) =>
      counted(begun(count).takeCounted(0.999, 'r1', 'c1', counter))
        .watch(2, 'r1', false)
        .fault(2, 0, 'restart', 'strike', { effects: [{ kind: 'forgot', who: ['r1'] }] })
        .sample(2.4, 'r1', { runId: 'run-2' })
        .watch(2.5, 'r1')
        .takeCounted(2.999, 'r1', 'c2', counter);
    expect(causeOf(forgotten((story) => story)).name).toBe('node-forgot');
    // What the script counts is another number, and its client took the token from its clock.
    expect(causeOf(forgotten((story) => story, fence, '1')).name).toBe('unexplained');
    // What becomes of a key without the lock's name in its own is not recorded.
    expect(causeOf(forgotten((story) => story, 'fence')).name).toBe('unexplained');
    for (const argv of [
      ['DEL', fence],
      ['PEXPIRE', fence, '500'],
    ])
      expect(causeOf(forgotten((story) => story.command(1.1, 'r1', 'c1', argv))).name).toBe('unexplained');
  });

  it('is unknown where the counter was removed when others had counted higher after it was lost', () => {
    const fence = `{${KEY}}:fence`;
    const since = (token: number, counts: number, client = 'c3', ...removed: string[][]) => {
      const story = nodes(repeated(token)).takeCounted(0.999, 'r1', 'c1');
      story.times(counts, (s, n) => s.command(2.6 + n / 100, 'r2', 'c3', ['INCR', fence]));
      for (const argv of removed) story.command(2.9, 'r2', client, argv);
      return causeOf(story.takeCounted(2.999, 'r2', 'c2')).name;
    };
    expect(since(5, 2)).toBe('failover-lost-write');
    expect(since(1, 9, 'c3', ['DEL', fence])).toBe('unexplained');
    expect(since(1, 9, 'stranger', ['SET', fence, '0'])).toBe('unexplained');
    expect(since(1, 0, 'stranger', ['FLUSHALL'])).toBe('unexplained');
  });

  it('is unknown where the token was not counted with the grant, whatever happened to the lock', () => {
    const elsewhere = nodes(repeated()).take(0.999, 'r1', 'c1').take(2.999, 'r2', 'c2');
    expect(causeOf(elsewhere)).toMatchObject({ name: 'unexplained', chain: [{ history: 4 }, { history: 6 }] });
    expect(causeOf(nodes(repeated()).takeCounted(0.999, 'r1', 'c1').take(2.999, 'r2', 'c2')).name).toBe('unexplained');
    expect(causeOf(nodes(repeated()).take(0.999, 'r1', 'c1').takeCounted(2.999, 'r2', 'c2')).name).toBe('unexplained');
  });

  it("is not what happened only to the lock's key, or to the holder", () => {
    const grants = (story: Story) => story.takeCounted(0.999, 'r1', 'c1').takeCounted(2.999, 'r1', 'c2');
    const watched = () => repeated().watch(0, 'r1').sample(0.5, 'r1');
    expect(causeOf(grants(watched().evicted(2, 'r1'))).name).toBe('unexplained');
    expect(causeOf(grants(watched().command(2, 'r1', 'c2', ['DEL', KEY]))).name).toBe('unexplained');
    // The count is known not to have a time to live.
    const empty = () => repeated().watch(0, 'r1').sample(0.5, 'r1', { isEmpty: true });
    expect(causeOf(grants(empty().evicted(2, 'r1'))).name).toBe('unexplained');
    expect(causeOf(grants(empty().command(2, 'r1', 'c3', ['DEL', KEY]))).name).toBe('unexplained');
    const stale = new Story().up('c1').grant('c1', 1, { token: 7 }).grant('c2', 7, { token: 7 });
    stale.watch(0, 'r1').takeCounted(0.999, 'r1', 'c1').takeCounted(6.999, 'r1', 'c2');
    expect(causeOf(stale.fault(2, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })).name).toBe(
      'unexplained',
    );
  });

  it('is unknown on independent nodes: any of them may have issued the token', () => {
    const story = repeated().independent();
    for (const node of ['r1', 'r2', 'r3']) {
      const empty = { isEmpty: true } as const;
      story.watch(0, node).sample(0.5, node, empty).takeCounted(0.999, node, 'c1').watch(2, node, false);
      story.sample(2.4, node, { runId: 'run-2' }).watch(2.5, node).takeCounted(2.999, node, 'c2');
    }
    expect(mutualExclusion.check(story.input()).violations).toMatchObject([{ cause: { name: 'node-forgot' } }]);
    expect(causeOf(story).name).toBe('unexplained');
  });

  it('is unknown where the first hold was over when the second began', () => {
    expect(causeOf(failover().release('c1', 2.9)).name).toBe('unexplained');
  });
});

const grantsArbitrary = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 20 }),
    long: fc.integer({ min: 0, max: 6 }),
    // How long after its call the attempt that was granted left, in parts of the operation.
    waited: fc.constantFrom(0, 0.5, 1),
    token: fc.integer({ min: 0, max: 8 }),
  }),
  { maxLength: 9 },
);

it('finds in random small histories what the definition, tried on every pair, finds', () => {
  const seen = { invalid: 0, valid: 0 };
  fc.assert(
    fc.property(grantsArbitrary, (specs) => {
      // A client each: no hold is nested.
      const told = specs.map(({ at, long, waited, token }, n) =>
        acquire(`c${n}`, 1, { at, until: at + long, grantSent: at + waited * long, token }),
      );
      const result = fencing.check(checkInput(told.flat()));
      let [inversions, repeats] = [0, 0];
      specs.forEach((a, m) => {
        specs.forEach((b, n) => {
          if (a.at + a.long < b.at + b.waited * b.long && a.token > b.token) inversions++;
          if (m < n && a.token === b.token) repeats++;
        });
      });
      expect(result.stats).toMatchObject({ fenceInversions: inversions, fenceRepeats: repeats });
      expect(result.verdict).toBe(inversions + repeats > 0 ? 'invalid' : 'valid');
      seen[result.verdict as 'valid' | 'invalid']++;
      for (const { holds, kind } of result.violations) {
        const [before, grant] = holds;
        expect(kind).toBe(before!.token === grant!.token ? 'fence-repeat' : 'fence-inversion');
        expect(before!.token).toBeGreaterThanOrEqual(grant!.token!);
        if (kind === 'fence-inversion') expect(before!.fromNs).toBeLessThan(grant!.grantSentNs);
      }
    }),
    drawn(1_000),
  );
  expect(Math.min(seen.invalid, seen.valid)).toBeGreaterThan(cases(100));
});
