import { describe, expect, it } from 'vitest';
import { headlineOf } from '../../../checkers/headline.js';
import { checkers as everyChecker, judge, judgesOf } from '../../../checkers/index.js';
import type { HistoryBody, ProtocolBreak } from '../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { Checker, RunConfig } from '../../../harness/vocabulary/run.js';
import type { Results, Violation, ViolationClass } from '../../../harness/vocabulary/verdict.js';
import { mutex } from '../../../workloads/mutex.js';
import { Story, turns } from './build.js';

const all = judgesOf({ ...mutex, played: false });
const judged = (story: Story) => judge(story.input(), all);

/** A whole run that held: 12 holds in turn, contended. */
const held = () => turns(12);
const broken = () => held().grant('c3', 3.5).release('c3', 3.7);
/** c3's lease ends at 24.998 s. */
const stale = () =>
  held().grant('c3', 20).grant('c4', 26).release('c3', 27, { sent: 26.9, type: 'fail' }).release('c4', 28);
const struck = (story: Story) =>
  story
    .planned('kill')
    .fault(3.1, 0, 'kill', 'strike', { targets: ['r1'] })
    .fault(5.2, 0, 'kill', 'heal', { targets: ['r1'] });

it('counts in its headline also what is not listed one by one', () => {
  const story = turns(12);
  for (let n = 0; n < 1_100; n++) {
    story
      .grant(`a${n}`, 30 + n)
      .grant(`b${n}`, 30.2 + n)
      .release(`a${n}`, 30.5 + n)
      .release(`b${n}`, 30.6 + n);
  }
  const result = judged(story.whole(1_200));
  expect(result).toMatchObject({ verdict: 'violated', found: { exclusion: 1_100 } });
  expect(result.violations).toHaveLength(1_000);
  expect(result.headline).toMatch(/^Exclusion broken: 1,100 times two clients held the lock at once/);
});

const judgedOf = (model: LockModel, exclusion = true) => ({
  exclusion,
  model,
  stats: { holds: 3, refusedStale: 2 },
  judges: everyChecker,
});

it.each([
  [judgedOf({ kind: 'mutex' }), 'The lock held: 3 holds, never two at once.'],
  [judgedOf({ kind: 'semaphore', permits: 2 }), 'The lock held: 3 holds, never more than 2 at once.'],
  [judgedOf({ kind: 'read-write' }), 'The lock held: 3 holds, never a writer beside another holder.'],
  [
    judgedOf({ kind: 'fenced' }, false),
    'Nothing that fails this run was found: 3 holds, 2 stale writes refused; whether two ever held at once was not judged.',
  ],
] as const)('says of exclusion only what was judged: %j', (what, expected) => {
  expect(headlineOf('held', { violations: [], failing: [], found: {} }, [], what)).toBe(expected);
});

describe('a link that carried something later than was allowed', () => {
  const late = { targets: ['r1'], late: 'up to 340.2 ms later than asked, and 80 ms are allowed' };
  const slow = (story: Story) =>
    story
      .planned('delay')
      .fault(3.1, 0, 'delay', 'strike', { targets: ['r1'] })
      .fault(5.2, 0, 'delay', 'heal', late);

  it('makes of a lock that held one of which nothing can be told', () => {
    const { verdict, exitStatus, reasons } = judged(slow(held()).whole(30));
    expect({ verdict, exitStatus }).toEqual({ verdict: 'unknown', exitStatus: 2 });
    expect(reasons[0]).toBe(
      'a link carried something later than was allowed (delay: up to 340.2 ms later than asked, and 80 ms are allowed)',
    );
  });

  it('takes nothing back that was found', () => {
    expect(judged(slow(broken()).whole(30)).verdict).toBe('violated');
  });
});

describe('the lock held', () => {
  it('with its strength', () => {
    expect(judged(struck(held()).whole(30))).toMatchObject({
      verdict: 'held',
      exitStatus: 0,
      headline: 'The lock held: 12 holds, 3 struck by a fault (1 strike), never two at once.',
      strength: '0 of 1 strike violated; at most 95 % at 95 % (3 holds struck)',
      reasons: [],
      found: {},
      reproduce: 'npm run torture -- --seed 1',
    });
  });

  it('also without faults', () => {
    expect(judged(held().whole(30))).toMatchObject({
      exitStatus: 0,
      headline: 'The lock held: 12 holds, never two at once.',
      strength:
        '0 of 12 holds violated; at most 22 % at 95 %, without any fault: contention was tested, no failure was',
      stats: { holds: 12, acquiresOk: 12, probes: 1 },
    });
  });

  it('although one fault of several was refused, which is mentioned', () => {
    const story = struck(held())
      .planned('kill', 'kill')
      .fault(6, 1, 'kill', 'refused', { proof: 'r1 is not running' })
      .whole(30);
    expect(judged(story)).toMatchObject({
      exitStatus: 0,
      reasons: ['fault kill (step 2 of the plan) was refused: r1 is not running'],
    });
  });

  it('is not said where something was found, though it does not fail the run', () => {
    const result = judged(
      stale()
        .whole(30)
        .configured({ failOn: ['exclusion'] }),
    );
    expect(result).toMatchObject({ verdict: 'held', exitStatus: 0, found: { stale: 1 } });
    expect(result.headline).toBe(
      "Nothing that fails this run was found in 14 holds; but 1 stale holder (the lease's).",
    );
    expect(result.strength).toBeUndefined();
    expect(result.violations).toHaveLength(1);
  });
});

describe('violated', () => {
  it('says how often, when first, and why', () => {
    expect(judged(broken().whole(30))).toMatchObject({
      verdict: 'violated',
      exitStatus: 1,
      headline: 'Exclusion broken: 1 time two clients held the lock at once (first at 3.500 s on lock:0, unexplained).',
      found: { exclusion: 1 },
    });
  });

  it('shows the longest first, says in its headline when the first was, and names causes in words', () => {
    const longer = broken().grant('c5', 30).grant('c6', 30.5).release('c5', 33).release('c6', 34);
    const { violations, headline } = judged(longer.whole(40));
    expect(violations.map(({ untilNs, fromNs }) => (untilNs - fromNs) / 1e9)).toEqual([2.5, 0.2]);
    expect(headline).toContain('2 times two clients held the lock at once (first at 3.500 s on lock:0');
    expect(violations.map(({ cause }) => cause.phrase)).toEqual(['unexplained', 'unexplained']);
  });

  it('outranks unknown: cut short, torn, and too few holds', () => {
    const story = new Story().grant('c1', 1).grant('c2', 1.5).release('c1', 2).release('c2', 2).torn();
    const result = judged(story);
    expect(result).toMatchObject({ verdict: 'violated', exitStatus: 1 });
    expect(result.strength).toBeUndefined();
    expect(result.reasons.join('\n')).toMatch(/torn.*\n.*cut short/);
  });

  it('puts the gravest first and mentions the rest', () => {
    const result = judged(
      stale()
        .grant('c5', 3.5)
        .release('c5', 3.7)
        .recovered(30)
        .probe(37, false)
        .event(38, { type: 'phase', phase: 'end' }),
    );
    expect(result.headline).toMatch(
      /^Exclusion broken: 1 time .*; also 1 failure of liveness \(unexplained\) and 1 stale holder \(the lease's\)\.$/,
    );
    expect(result.found).toEqual({ exclusion: 1, stale: 1, liveness: 1 });
    expect(result.violations.map((violation) => violation.class)).toEqual(['exclusion', 'liveness', 'stale']);
  });

  it('lists what is unexplained before what the lease allows, though it came last', () => {
    const result = judged(
      stale()
        .grant('c1', 30)
        .grant('c2', 30.5)
        .release('c1', 30.7)
        .release('c2', 30.9)
        .grant('c1', 31)
        .grant('c2', 31.5)
        .release('c1', 31.7)
        .release('c2', 31.9)
        .whole(40),
    );
    expect(result.violations.map((one) => [one.class, one.fromNs / 1e9])).toEqual([
      ['exclusion', 30.5],
      ['exclusion', 31.5],
      ['stale', 26],
    ]);
    expect(result.headline).toMatch(/first at 30\.500 s/);
  });

  it('names a stale holder, and a deadlock', () => {
    expect(judged(stale().whole(30)).headline).toBe(
      'Stale holder: 1 time a client acted on after its lease had ended, beside the next holder (first at 26.000 s on lock:0, the client took longer than its lease: no lease prevents that).',
    );
    const stuck = held().recovered(30).probe(37, false).event(38, { type: 'phase', phase: 'end' });
    expect(judged(stuck).headline).toBe(
      'Deadlock: 1 lock could not be acquired again after everything was healed (first at 30.000 s on lock:0, unexplained).',
    );
  });

  it('names what a lock said, by the first finding of the class, and counts the other kinds separately', () => {
    const renewed = held().grant('c3', 20).grant('c4', 26).renewed('c3', 26.5).release('c3', 27, { sent: 26.9 });
    expect(judged(renewed.release('c4', 28).whole(30)).headline).toMatch(
      /^Exclusion broken: 1 hold renewed although another client had been granted the lock since \(first at 26\.500 s .*\); also 1 stale holder \(unexplained\)\.$/,
    );
    const silent = held().grant('c3', 20).grant('c4', 26).release('c3', 27, { sent: 26.9 }).release('c4', 28);
    expect(judged(silent.whole(30)).headline).toMatch(
      /^Stale holder: 1 time a release answered .*; also 1 stale holder \(the lease's\)\.$/,
    );
  });

  it('fails only for the classes in --fail-on', () => {
    expect(
      judged(
        stale()
          .whole(30)
          .configured({ failOn: ['stale'] }),
      ).exitStatus,
    ).toBe(1);
    expect(
      judged(
        stale()
          .whole(30)
          .configured({ failOn: ['liveness'] }),
      ).exitStatus,
    ).toBe(0);
  });
});

describe("the lock's own mistakes", () => {
  const LOCK_FAILS: RunConfig['failOn'] = ['lock'];
  const lease = violation('client-paused', 'stale', 1);
  const deployment = violation('evicted', 'exclusion', 2);
  const unexplained = violation('unexplained', 'exclusion', 3);
  const own = violation('overwritten', 'exclusion', 4);

  it('come first, then what is unexplained, the deployment and the lease', () => {
    const { violations, headline } = found([lease, deployment, unexplained, own]);
    expect(violations.map(({ blame }) => blame!.on)).toEqual(['lock', 'unexplained', 'deployment', 'lease']);
    expect(headline).toBe(
      "The lock's mistake. Broken: 1 (first at 4.000 s on lock:0, it was overwritten); also 1 overlap of two holders (unexplained), 1 overlap of two holders (the deployment's) and 1 stale holder (the lease's).",
    );
  });

  it('are counted by themselves where not all are explained one by one', () => {
    const { headline } = found([own, { ...own, fromNs: 5e9 }], { counted: { exclusion: 1_000 } });
    expect(headline).toMatch(
      /^The lock's mistake\. Broken: 2 .*; also 998 overlaps of two holders not explained one by one\.$/,
    );
  });

  it('say of another headline whose doing it is', () => {
    expect(found([deployment]).headline).toContain("a full server evicted it: the deployment's doing)");
    expect(found([lease]).headline).toContain('the client was paused: no lease prevents that)');
    expect(found([unexplained]).headline).toMatch(/^Broken: 1 \(first at 3\.000 s on lock:0, unexplained\)\.$/);
  });

  it.each([
    ['violated', 1, [own, unexplained, deployment]],
    ['unknown', 2, [unexplained, deployment, lease]],
    ['held', 0, [deployment, lease]],
  ] as const)('fail a run by themselves: %s, exit status %i', (verdict, exitStatus, violations) => {
    expect(found(violations, { failOn: LOCK_FAILS })).toMatchObject({ verdict, exitStatus });
  });

  it('cannot be told where a finding is unexplained, and the run says which', () => {
    expect(found([unexplained, lease], { failOn: LOCK_FAILS }).headline).toBe(
      'Cannot tell: 1 finding without a proven cause, the first (exclusion broken, broken) at 3.000 s on lock:0: whether that is the lock’s mistake cannot be told.',
    );
  });

  it('cannot be told of what is counted only', () => {
    const many = found([deployment], { failOn: LOCK_FAILS, counted: { exclusion: 1_001 } });
    expect(many).toMatchObject({ verdict: 'unknown', exitStatus: 2 });
    expect(many.reasons[0]).toContain('1,000 findings more than are explained one by one');
    expect(found([deployment], { failOn: ['exclusion'], counted: { exclusion: 1_001 } }).verdict).toBe('violated');
  });

  it('cannot be told where a checker cannot tell, of whatever class', () => {
    expect(found([], { failOn: LOCK_FAILS, unknown: true })).toMatchObject({ verdict: 'unknown', exitStatus: 2 });
  });

  it('cannot be told where more may be hidden beside what does not fail the run', () => {
    const beside = (one: Violation, failOn: RunConfig['failOn'], why = ['a second one may be']) =>
      found([one], { failOn, open: ['exclusion'], notes: why });
    expect(beside(deployment, LOCK_FAILS)).toMatchObject({
      verdict: 'unknown',
      exitStatus: 2,
      headline: 'Cannot tell: a second one may be.',
    });
    expect(beside(deployment, LOCK_FAILS, []).verdict).toBe('unknown');
    expect(beside(lease, ['exclusion']).verdict).toBe('unknown');
    expect(beside(lease, ['harm']).verdict).toBe('held');
    expect(beside(own, LOCK_FAILS).verdict).toBe('violated');
  });

  it.each([
    ['found', [own, unexplained], {}],
    ['unknown', [unexplained, deployment], {}],
    ['none', [deployment, lease], {}],
    ['none', [], {}],
    ['unknown', [lease], { counted: { stale: 2 } }],
    ['unknown', [lease], { open: ['stale'] }],
    ['unknown', [], { unknown: true }],
    ['found', [own], { failOn: ['stale'] }],
  ] as const)('are told apart whatever fails the run: %s', (ownMistakes, violations, more) => {
    expect(found(violations, more as Findings).ownMistakes).toBe(ownMistakes);
  });

  it('are told with what else is open where something fails the run', () => {
    expect(found([own], { open: ['exclusion'], notes: ['a second one may be'] }).open).toEqual(['a second one may be']);
    expect(found([own], { open: ['exclusion'] }).open).toHaveLength(1);
    expect(found([own], { open: ['exclusion'] }).reasons).toEqual([]);
    expect(found([own]).open).toBeUndefined();
  });

  it.each([
    [['lock', 'stale'], [lease], 1],
    [['lock', 'stale'], [own], 1],
    [['lock', 'stale'], [deployment], 0],
    [['lock', 'stale'], [unexplained], 2],
    [['stale'], [own, unexplained, deployment], 0],
    [['stale'], [lease], 1],
    [[], [own, lease], 0],
  ] as const)('fail it together with classes: --fail-on %j', (failOn, violations, exitStatus) => {
    expect(found(violations, { failOn: [...failOn] }).exitStatus).toBe(exitStatus);
  });

  describe('that were known before', () => {
    const known = (allowed: boolean) => ({
      fingerprints: ['lock/exclusion/broken/overwritten', 'unexplained/exclusion/broken/unexplained'],
      allowed,
    });

    it('fail a run no more only where that is asked for, and are told in any case', () => {
      const fails = found([own], { known: known(false) });
      expect(fails).toMatchObject({ verdict: 'violated', violations: [{ known: 'fails' }] });
      const allowed = found([own, unexplained], { known: known(true) });
      expect(allowed).toMatchObject({ verdict: 'held', exitStatus: 0 });
      expect(allowed.violations.map((one) => one.known)).toEqual(['allowed', 'allowed']);
      expect(allowed.headline).toBe(
        "Nothing that fails this run was found in 0 holds; but 1 overlap of two holders (the lock's mistake) and 1 overlap of two holders (unexplained).",
      );
    });

    it('hide nothing else: of another cause, class or blame, or counted only', () => {
      const other = found([own, deployment], { known: known(true) });
      expect(other).toMatchObject({ verdict: 'violated', violations: [{ cause: { name: 'evicted' } }, {}] });
      // Of the two that are of one kind, the headline counts the one that fails the run.
      const twice = found([own, violation('released-by-other', 'exclusion', 5)], { known: known(true) });
      expect(twice.headline).toMatch(/^The lock's mistake\. Broken: 1 \(first at 5\.000 s/);
      expect(found([{ ...own, class: 'stale' }], { known: known(true) }).verdict).toBe('violated');
      const counted = found([own], { known: known(true), counted: { exclusion: 3 } });
      expect(counted).toMatchObject({ verdict: 'unknown', exitStatus: 2 });
      expect(counted.reasons[0]).toBe(
        '2 findings more than are explained one by one: whether they are known cannot be told',
      );
    });

    it('leave open what may be hidden beside them', () => {
      expect(found([own], { known: known(true), unknown: true }).verdict).toBe('unknown');
    });
  });

  /** What comes of these findings, of a checker that is only here. */
  function found(
    violations: readonly Violation[],
    { failOn = ALL_CLASSES, counted, unknown = false, known, open, notes = [] }: Findings = {},
  ): Results {
    const property = (name: ViolationClass) => ({
      class: name,
      holds: '',
      broken: '',
      kinds: { broken: { headline: (count: number) => `Broken: ${count}`, accusedIf: '' } },
    });
    const checker: Checker = {
      name: 'found',
      summary: '',
      properties: [property('exclusion'), property('stale')],
      judges: { models: 'all', plays: true },
      check: () => ({
        verdict: unknown ? 'unknown' : violations.length > 0 ? 'invalid' : 'valid',
        notes: unknown ? ['it is not known'] : [...notes],
        ...(open && { open: [...open] }),
        violations: [...violations],
        ...(counted && { found: counted }),
        stats: {},
      }),
    };
    return judge(
      held()
        .whole(30)
        .configured({ failOn, ...(known && { known }) })
        .input(),
      [checker],
    );
  }
});

interface Findings {
  failOn?: RunConfig['failOn'];
  counted?: Results['found'];
  unknown?: boolean;
  known?: RunConfig['known'];
  open?: readonly ViolationClass[];
  notes?: readonly string[];
}

const ALL_CLASSES: RunConfig['failOn'] = ['exclusion', 'stale', 'harm', 'liveness'];

function violation(cause: string, name: ViolationClass, atS: number): Violation {
  return {
    class: name,
    kind: 'broken',
    key: 'lock:0',
    fromNs: atS * 1e9,
    untilNs: (atS + 1) * 1e9,
    holds: [],
    evidence: [],
    proof: '',
    cause: { name: cause, sentence: '', chain: [] },
  };
}

describe('cannot tell', () => {
  it('a run that was cut short, whatever it shows', () => {
    const result = judged(held());
    expect(result).toMatchObject({
      verdict: 'unknown',
      exitStatus: 2,
      headline: 'Cannot tell: the run was cut short: its history stops before its end.',
    });
    expect(result.strength).toBeUndefined();
  });

  it('a torn history', () => {
    expect(judged(held().whole(30).torn())).toMatchObject({ exitStatus: 2, reasons: [expect.stringMatching(/torn/)] });
  });

  it('a run that proves nothing', () => {
    expect(judged(new Story().whole(1))).toMatchObject({
      exitStatus: 2,
      headline: expect.stringMatching(/^Cannot tell: there were only 0 holds/),
    });
  });

  it('a run under a clock that was stepped', () => {
    const result = judged(held().disturbed(2, 'wall-clock-step', 50).whole(30));
    expect(result).toMatchObject({
      exitStatus: 2,
      reasons: [expect.stringMatching(/an overlap may be hidden: .* stepped by 50 ms/)],
    });
  });

  it('liveness in a deployment that did not recover, unless that is not asked for', () => {
    const story = () =>
      held().recovered(30, ['no primary']).probe(37, false).event(38, { type: 'phase', phase: 'end' });
    expect(judged(story()).exitStatus).toBe(2);
    const result = judged(story().configured({ failOn: ['exclusion', 'stale'] }));
    expect(result.exitStatus).toBe(0);
    expect(result.reasons).toContainEqual(expect.stringMatching(/had not recovered/));
  });

  it('a workload that no checker judges', () => {
    expect(judge(held().whole(30).input(), [])).toMatchObject({
      exitStatus: 2,
      reasons: ['no checker judges this workload'],
    });
  });
});

// Were anything quadratic, this would meet the time-out.
it('decides a long history, violated throughout or not', () => {
  for (const overlap of [0, 0.0005]) {
    const story = new Story();
    for (let n = 0; n < 20_000; n++)
      story.grant(`c${(n % 5) + 1}`, 1 + n * 0.01).release(`c${(n % 5) + 1}`, 1 + n * 0.01 + 0.009 + overlap * 4);
    const input = story.whole(300).input();
    const result = judge(input, all);
    expect(result.found.exclusion ?? 0).toBe(overlap ? 19_999 : 0);
  }
});

describe('a run that was disturbed from outside', () => {
  const proof = 'the disk was full at 25.000 s, and the run was ended there; free some space';
  const full = (story: Story) => story.fault(25, -1, 'disk', 'failed', { proof, mishap: 'disk' });

  it('is the first thing said, once, and such a run cannot have held', () => {
    const result = judged(full(held()).whole(30));
    expect(result).toMatchObject({ verdict: 'unknown', exitStatus: 2, headline: `Cannot tell: ${proof}.` });
    expect(result.reasons).toEqual([proof]);
  });

  it('is said before a server that could not write any more', () => {
    const died = held().fault(24.9, -1, 'server', 'failed', { proof: 'r1 ended by itself', mishap: 'server' });
    expect(judged(full(died).whole(30)).reasons.slice(0, 2)).toEqual([proof, 'r1 ended by itself']);
  });

  it('does not excuse what was broken', () => {
    expect(judged(full(broken()).whole(30))).toMatchObject({ exitStatus: 1, reasons: [proof] });
  });
});

describe('a headline says what happened', () => {
  const violation = (kind: string, of: Violation['class']): Violation => ({
    class: of,
    kind,
    key: 'lock:0',
    fromNs: 1e9,
    untilNs: 2e9,
    holds: [],
    evidence: [],
    proof: '',
    cause: { name: 'unexplained', sentence: '', chain: [] },
  });

  it.each([
    ['stale-write', 'harm', /^Harm done: 3 times the protected resource took a write/],
    ['lost-update', 'harm', /^Harm done: 3 acknowledged updates of the protected counter lost/],
    ['fence-repeat', 'harm', /^Fencing broken: 3 grants without a higher token/],
    ['fifo-inversion', 'liveness', /^Not fair: 3 clients overtaken/],
    ['permit-leak', 'liveness', /^Permits leaked: of 3 semaphores/],
    ['starved', 'liveness', /^Starved: 3 locks that no client held/],
    ['deadlock', 'liveness', /^Deadlock: 3 locks could not be acquired again/],
    ['left-behind', 'liveness', /^Left behind: 3 failed tries or released holds stayed on a server/],
    ['of-a-later-version', 'harm', /^Harm done: 3 findings of the kind "of-a-later-version"/],
  ] as const)('of %s', (kind, of, expected) => {
    const violations = [violation(kind, of)];
    const headline = headlineOf(
      'violated',
      { violations, failing: violations, found: { [of]: 3 } },
      [],
      judgedOf({ kind: 'mutex' }),
    );
    expect(headline).toMatch(expected);
    expect(headline).toMatch(/ \(first at 1\.000 s on lock:0, unexplained\)\.$/);
  });
});

it('leaves room between its steps: after each checker, and each key of each reading', () => {
  let steps = 0;
  const input = held().whole(30).input();
  const { checkers, readings } = judge(input, all, () => steps++);
  expect(steps).toBe(checkers.length + readings.length * new Set(input.history.operations.keys).size);
});

describe('a client that breaks the protocol', () => {
  const stamps = 'the lease is said to run from 9, outside the operation (1 to 2)';
  const down = (client: string, at: number, lost?: ProtocolBreak['lost']) =>
    ({
      type: 'client-down',
      client,
      endNs: at * 1e9,
      reason: 'x',
      broke: { what: stamps, ...(lost && { lost }) },
    }) as const;

  it.each(['acquire', 'extend'] as const)('leaves open what was held, where the answer to an %s is lost', (op) => {
    const result = judged(
      held()
        .event(25, down('c9', 25, { id: 1, op, key: 'lock:0' }))
        .event(26, down('c8', 26, { id: 4, op, key: 'lock:0' }))
        .whole(30),
    );
    expect(result).toMatchObject({ verdict: 'unknown', exitStatus: 2, stats: { protocolBreaks: 2, answersLost: 2 } });
    expect(result.headline).toContain(`2 times a client broke the protocol, first c9 at 25.000 s: ${stamps}`);
    expect(result.headline).toContain('docs/protocol.md, "Stamps"');
  });

  it.each([undefined, { id: 1, op: 'release', key: 'lock:0' }, { id: 1, op: 'clock', key: '' }] as const)(
    'hides no hold that way: %j',
    (lost) => {
      const result = judged(
        held()
          .event(25, down('c9', 25, lost))
          .whole(30),
      );
      expect(result).toMatchObject({ verdict: 'held', stats: { protocolBreaks: 1, answersLost: 0 } });
      expect(result.reasons).toEqual([expect.stringMatching(/^1 time a client broke the protocol, first c9/)]);
    },
  );

  it('is outranked by a violation', () => {
    const story = broken().event(25, down('c9', 25, { id: 1, op: 'acquire', key: 'lock:0' }));
    expect(judged(story.whole(30))).toMatchObject({ verdict: 'violated', stats: { answersLost: 1 } });
  });

  it('is recognised in records of the first release by the reason of its death and of the answer', () => {
    const asked = { client: 'c9', id: 3, op: 'acquire', key: 'lock:0' } as const;
    const old = (reason: string) =>
      held()
        .event(24, { type: 'invoke', ...asked, leaseMs: 5_000, waitMs: 0 })
        .event(24.5, { type: 'info', ...asked, reason })
        .event(25, { type: 'client-down', client: 'c9', endNs: 24.6e9, reason })
        .whole(30);
    expect(judged(old(`protocol: ${stamps}`))).toMatchObject({ verdict: 'unknown', stats: { answersLost: 1 } });
    expect(judged(old('timeout')).stats).not.toHaveProperty('protocolBreaks');
  });
});

describe('missing records are noticed', () => {
  const judged = (story: Story) => judge(story.input(), all);
  const recorded = (lines: number) => struck(held()).event(29, { type: 'closed', observations: lines }).whole(30);
  const watched = (lines: number, story = recorded(3)) => {
    for (let n = 0; n < lines; n++) story.watch(n, 'r1', true);
    return story;
  };

  it.each([0, 2, 4])('where observations.jsonl has %i of 3 lines', (lines) => {
    const story = watched(lines);
    expect(judged(story)).toMatchObject({
      verdict: 'unknown',
      exitStatus: 2,
      headline: expect.stringContaining(`observations.jsonl is missing or cut: it has ${lines} of the 3 lines`),
    });
    // Nothing that fails this run had to be looked for there; but it is said.
    const result = judged(watched(lines).configured({ failOn: ['harm'] }));
    expect(result.verdict).toBe('held');
    expect(result.reasons).toContain(
      `observations.jsonl is missing or cut: it has ${lines} of the 3 lines that were recorded`,
    );
    // Whether the servers had granted every hold stands there, too.
    expect(judged(watched(lines).configured({ failOn: ['exclusion'] })).verdict).toBe('unknown');
    // Nor was it needed by a checker of this run; but it is said.
    const others = all.filter(({ name }) => name !== 'left-behind' && name !== 'never-granted');
    expect(judge(watched(lines).input(), others)).toMatchObject({
      verdict: 'held',
      reasons: [expect.stringContaining('missing or cut')],
    });
  });

  it('but not where the record is complete', () => {
    expect(judged(watched(3))).toMatchObject({ verdict: 'held', reasons: [] });
    expect(judged(watched(0, recorded(0)))).toMatchObject({ verdict: 'held', reasons: [] });
  });

  it('and in records without a count, where a run that had servers has no sample of any', () => {
    const deployment = {
      type: 'deployment',
      topology: 'single',
      runtime: 'netns',
      serverVersion: '7',
      settings: [],
    } satisfies HistoryBody;
    const story = () => struck(held()).event(0.1, deployment).open().whole(30);
    expect(judged(story())).toMatchObject({
      verdict: 'unknown',
      headline: expect.stringContaining('no sample of any server'),
    });
    expect(judged(watched(3, story()))).toMatchObject({ verdict: 'unknown' });
    expect(judged(story().sample(3, 'r1', {}))).toMatchObject({ verdict: 'held' });
    expect(judged(held().whole(30))).toMatchObject({ verdict: 'held' });
  });

  it('and is outranked by a violation', () => {
    expect(judged(broken().event(29, { type: 'closed', observations: 1 }).whole(30)).verdict).toBe('violated');
  });
});

it('does not count holds that were over before they began: neither as strength nor as enough', () => {
  const story = struck(held());
  for (let n = 0; n < 5; n++) story.grant('c1', 3.2 + n / 10).lost('c1', 3.199 + n / 10);
  expect(judged(story.whole(30))).toMatchObject({ stats: { holds: 12, struckHolds: 3 } });
});

describe('a finding that is the lock’s mistake by its kind, whatever caused it', () => {
  const cause = (sentence: string, ownMistake: boolean) => {
    const told = violationOf(sentence);
    const checker: Checker = {
      name: 'own',
      summary: '',
      properties: [
        {
          class: 'liveness',
          holds: '',
          broken: '',
          kinds: {
            stuck: {
              headline: () => 'Stuck',
              accusedIf: 'a client was never woken',
              ...(ownMistake && { ownMistake: { theory: 'It must wake.' } }),
            },
          },
        },
      ],
      judges: { models: 'all', plays: true },
      check: () => ({ verdict: 'invalid', notes: [], violations: [told], stats: {} }),
    };
    return judge(new Story().whole(5).input(), [checker]).violations[0]!.cause.sentence;
  };
  const violationOf = (sentence: string): Violation => ({
    ...{ class: 'liveness', kind: 'stuck', key: 'lock:0', fromNs: 0, untilNs: 1, holds: [], evidence: [], proof: '' },
    cause: { name: 'unexplained', sentence, chain: [] },
  });

  it('does not say beside it that no evidence shows why, but what is shown and what is not', () => {
    const proven = 'Proven is that a client was never woken. Which step of the lock did it is not shown.';
    expect(cause('No complete chain of evidence shows why.', true)).toBe(proven);
    // Where it is nobody's, or says more by itself, it says what it says.
    expect(cause('No complete chain of evidence shows why.', false)).toMatch(/^No complete chain/);
    expect(cause('c1 left it on r1.', true)).toBe('c1 left it on r1.');
  });
});
