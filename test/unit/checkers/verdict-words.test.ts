/** The first words of a verdict, and its three lines, of literal findings. */
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../checkers/causes/descriptions.js';
import { lossesIn, WAS_REPLICA } from '../../../checkers/causes/losses.js';
import { judge } from '../../../checkers/index.js';
import { fewWords, firstWords, toneOf, verdictLines } from '../../../harness/record/facts/verdict-words.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import type { Checker, CheckInput, RunConfig } from '../../../harness/vocabulary/run.js';
import type { CauseLink, Hold, Results, Violation, ViolationClass } from '../../../harness/vocabulary/verdict.js';
import { Story, turns } from './build.js';

const CLASSES: RunConfig['failOn'] = ['exclusion', 'stale', 'harm', 'liveness'];

let ids = 0;

/** An overlap of two holds; of the class `stale` the first of them is late. */
function overlap(cause: string, name: ViolationClass, over: Partial<Violation> = {}): Violation {
  const first = hold(`c${++ids}`, name === 'stale' ? 5 : 20);
  return {
    class: name,
    kind: 'overlap',
    key: 'lock:0',
    fromNs: 10e9,
    untilNs: 11e9,
    holds: [first, hold('other', 30)],
    evidence: [],
    proof: '',
    cause: { name: cause, sentence: '', chain: [] },
    ...over,
  };
}

function hold(client: string, leaseEndS: number): Hold {
  return {
    client,
    key: 'lock:0',
    id: ids,
    fromNs: 1e9,
    untilNs: 12e9,
    endedBy: 'release',
    leaseEndNs: leaseEndS * 1e9,
    grantSentNs: 1e9,
    leaseMs: 5_000,
    evidence: [],
  };
}

/** Lost in the takeover that this line of the observations shows. */
const lostIn = (observation: number, over: Partial<Violation> = {}): Violation => {
  const link: CauseLink = { atNs: 9e9, text: `r2 ${WAS_REPLICA}`, observation };
  return overlap('failover-lost-write', 'exclusion', {
    cause: { name: 'failover-lost-write', sentence: '', chain: [link] },
    ...over,
  });
};

const own = () => overlap('overwritten', 'exclusion');
const unexplained = () => overlap('unexplained', 'exclusion');
const asleep = () => overlap('client-paused', 'stale');

interface Run {
  failOn?: RunConfig['failOn'];
  known?: RunConfig['known'];
  found?: Results['found'];
  open?: ViolationClass[];
  notes?: string[];
  topology?: string;
  outlook?: CheckInput['outlook'];
  model?: LockModel;
  holds?: number;
  struck?: number;
  scenario?: string;
  virtualTime?: RunConfig['virtualTime'];
}

/** A whole run of which one checker found this. */
function judged(violations: readonly Violation[], run: Run = {}): Results {
  const { failOn = CLASSES, known, found, open, notes = [], holds = 900, struck } = run;
  const checker: Checker = {
    name: 'found',
    summary: '',
    properties: CLASSES.map((name) => ({
      class: name as ViolationClass,
      holds: '',
      broken: '',
      kinds: { overlap: { headline: (count: number) => `Broken: ${count}`, accusedIf: '' } },
    })),
    judges: { models: 'all', plays: true },
    check: () => ({
      verdict: violations.length > 0 ? 'invalid' : 'valid',
      notes,
      ...(open && { open }),
      violations: [...violations],
      ...(found && { found }),
      stats: { holds, ...(struck !== undefined && { strikes: struck, struckHolds: 2 * struck }) },
    }),
  };
  const story = struck === undefined ? turns(12) : turns(12).planned('kill');
  const input = story
    .promised(run.model ?? { kind: 'mutex' })
    .whole(30)
    .configured({
      failOn,
      topology: run.topology ?? 'sentinel',
      ...(known && { known }),
      ...(run.scenario !== undefined && { scenario: run.scenario }),
      ...(run.virtualTime && { virtualTime: run.virtualTime, cut: '12 s in place of 20 s' }),
    })
    .input();
  return judge({ ...input, outlook: run.outlook }, [checker]);
}

const first = (violations: readonly Violation[], run?: Run) => judged(violations, run).words!.verdict;
const lines = (violations: readonly Violation[], run?: Run) => judged(violations, run).words!;

describe('whose mistake, first', () => {
  it.each<[string, Violation[]]>([
    ['VIOLATED by the lock', [asleep(), lostIn(1), unexplained(), own()]],
    ['VIOLATED, cause unknown', [asleep(), lostIn(1), unexplained()]],
    [
      'VIOLATED: not safe on sentinel (a failover lost 2 grants), and 1 holder outslept its lease; no other mistake of the lock found',
      [asleep(), lostIn(1), lostIn(1)],
    ],
    ['VIOLATED: not safe on sentinel (a failover lost 1 grant); no other mistake of the lock found', [lostIn(1)]],
    ['VIOLATED: 2 holders outslept their lease; no other mistake of the lock found', [asleep(), asleep()]],
  ])('%s', (words, violations) => {
    expect(first(violations)).toBe(words);
  });

  it('counts grants that were lost, not overlaps, and the failovers that lost them', () => {
    const lost = lostIn(1);
    expect(first([lost, { ...lost, fromNs: 12e9 }, lostIn(1)])).toContain('(a failover lost 2 grants)');
    expect(first([lostIn(1), lostIn(2), lostIn(2)])).toContain('(2 failovers lost 3 grants)');
    expect(lossesIn([lostIn(1), lostIn(2)], 'long')).toBe('lost 2 grants in 2 failovers');
  });

  it('says of each cause what became of the grants, and of a mix all of it', () => {
    const of = (cause: string) => overlap(cause, 'exclusion');
    expect(first([of('node-forgot'), of('evicted')], { topology: 'single' })).toBe(
      'VIOLATED: not safe on single (a server that restarted forgot 1 grant and a full server evicted 1 grant); no other mistake of the lock found',
    );
    expect(first([of('clock-jumped')])).toContain('(a clock that jumped ended 1 grant early)');
    expect(first([of('split-brain')])).toContain('(a replaced primary granted 1 held lock again)');
  });

  it('counts findings where no pair of holders shows whose grant was lost', () => {
    const harm = lostIn(1, { class: 'harm', kind: 'fence-repeat' });
    expect(first([harm])).toContain('not safe on sentinel (1 case of harm: failover lost the write)');
    const three = lostIn(1);
    expect(first([{ ...three, holds: [...three.holds, ...three.holds] }])).toContain('(1 overlap of two holders: ');
    expect(lossesIn([lostIn(1), harm], 'long')).toBe('lost 1 grant in a failover (and by that 1 case of harm)');
  });

  it('has words for every cause that blames the deployment alone', () => {
    for (const cause of CAUSES) {
      const one = overlap(cause, 'exclusion');
      if (judged([one]).violations[0]!.blame!.on !== 'deployment') continue;
      expect(lossesIn([one], 'short'), cause).toMatch(/1 (grant|renewal|held lock)\b/);
      expect(lossesIn([one], 'long'), cause).toMatch(/1 (grant|renewal|held lock)\b/);
    }
  });

  it('says how holders went on past their lease, each counted once', () => {
    const slept = asleep();
    expect(first([slept, { ...slept, fromNs: 10.5e9 }])).toContain('1 holder outslept its lease');
    const slow = overlap('client-slow', 'stale');
    expect(first([slow])).toContain('1 holder worked past its lease');
    expect(first([slow, slept])).toContain('2 holders went on past their lease');
  });
});

describe('no other mistake of the lock found', () => {
  const NOT_SAID = 'no other mistake';

  it('is not said where something that does not fail the run is unexplained, or the lock’s', () => {
    const allowed = { failOn: ['exclusion'] as RunConfig['failOn'] };
    const late = (cause: string) => overlap(cause, 'liveness');
    expect(first([lostIn(1), late('unexplained')], allowed)).toBe(
      'VIOLATED: not safe on sentinel (a failover lost 1 grant); whether the lock made a mistake, too, cannot be told',
    );
    expect(first([lostIn(1), late('went-on-trying')], allowed)).toBe(
      'VIOLATED: not safe on sentinel (a failover lost 1 grant); mistakes of the lock, too, allowed by --fail-on exclusion',
    );
  });

  it('is not said of what is counted only, nor where a checker leaves something open', () => {
    expect(first([lostIn(1)], { found: { exclusion: 1_001 } })).toMatch(/; 1,000 findings more are not explained$/);
    expect(first([lostIn(1)], { open: ['exclusion'], notes: ['one may be hidden'] })).not.toContain(NOT_SAID);
  });

  it('is not said where the lock’s mistakes are known', () => {
    const known = { fingerprints: ['lock/exclusion/overlap/overwritten'], allowed: true };
    expect(first([lostIn(1), own()], { known })).toBe(
      'VIOLATED: not safe on sentinel (a failover lost 1 grant); mistakes of the lock, too, allowed by --known-ok',
    );
  });
});

describe('what --fail-on lets through', () => {
  const failOn: RunConfig['failOn'] = ['lock'];

  it('passes with what it is, and is never called held', () => {
    const result = judged([lostIn(1), lostIn(1)], { failOn });
    expect(result).toMatchObject({ verdict: 'held', exitStatus: 0 });
    expect(toneOf(result)).toBe('passed');
    expect(firstWords(result)).toBe('PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock');
    expect(first([asleep(), lostIn(1)], { failOn })).toBe(
      'PASSED, WITH 1 DOUBLE HOLD AND 1 STALE HOLDER ALLOWED BY --fail-on lock',
    );
    expect(firstWords({ ...result, words: undefined! })).toMatch(/^PASSED/);
  });

  it('is counted in the words of its kind', () => {
    const kinds = [overlap('unexplained', 'harm'), overlap('unexplained', 'liveness'), own()];
    expect(first([...kinds, { ...own(), kind: 'revived' }], { failOn: [] })).toBe(
      'PASSED, WITH 1 DOUBLE HOLD, 1 OTHER BREACH OF EXCLUSION, 1 CASE OF HARM AND 1 FAILURE OF LIVENESS ALLOWED BY --fail-on none',
    );
    expect(first([own()], { failOn: ['harm'], model: { kind: 'semaphore', permits: 2 } })).toContain(
      '1 HOLD BEYOND THE PERMITS',
    );
    expect(first([own()], { failOn: ['harm'], found: { exclusion: 1_200 } })).toContain('1,200 DOUBLE HOLDS');
    // Of one holder there may be many overlaps; which of them are one's is known of those that are told.
    const slept = asleep();
    expect(first([slept, { ...slept, fromNs: 10.5e9 }], { failOn })).toContain('WITH 1 STALE HOLDER ');
    expect(first([slept], { failOn: ['harm'], found: { stale: 9 } })).toContain('9 OVERLAPS WITH STALE HOLDERS');
  });

  it('says that it was known', () => {
    const known = { fingerprints: ['lock/exclusion/overlap/overwritten'], allowed: true };
    expect(first([own()], { known })).toBe('PASSED, WITH 1 DOUBLE HOLD ALLOWED BY --known-ok');
    expect(first([own(), lostIn(1)], { known, failOn })).toBe(
      'PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock and --known-ok',
    );
  });
});

describe('held', () => {
  it('never stands without its strength', () => {
    expect(first([], { struck: 412 })).toBe('HELD in 412 strikes (824 holds struck)');
    expect(first([], { holds: 900 })).toBe('HELD in 900 holds without faults');
    expect(lines([], { holds: 900 }).lock).toContain(
      'confidence, without any fault: contention was tested, no failure was.',
    );
    expect(first([], { scenario: 'a-play' })).toBe('HELD in this play');
    expect(lines([], { struck: 412 }).lock).toBe(
      'no mistake of its own was found in 412 strikes at 824 holds: at most 0.72 % of such go wrong, at 95 % confidence.',
    );
    expect(firstWords({ verdict: 'held', found: {}, strength: '0 of 3 holds violated' })).toBe(
      'HELD (0 of 3 holds violated)',
    );
  });

  it('says that it is weak, and what to type', () => {
    const weak = lines([], { struck: 12 });
    expect(weak.verdict).toBe('HELD, weakly: in only 12 strikes (24 holds struck)');
    expect(weak.lock).toContain('in only 12 strikes at 24 holds, which is weak: up to 22 % of such may go wrong');
    expect(weak.stronger).toBe('npm run torture -- --seed 1 --times 7');
    expect(lines([], { struck: 1 }).stronger).toMatch(/ --times 79$/);
    expect(lines([], { struck: 59 }).stronger).toBeUndefined();
    // Where something is open, more runs are no answer; a play is the same each time.
    expect(lines([own()], { struck: 12 }).stronger).toBeUndefined();
    expect(lines([], { scenario: 'a-play', holds: 2 }).stronger).toBeUndefined();
  });

  it('is not said of a run that cannot tell', () => {
    const open = judged([], { open: ['exclusion'], notes: ['one may be hidden'] });
    expect(open.words!.verdict).toBe('CANNOT TELL');
    expect(open.words!.lock).toBe('whether it made a mistake cannot be told: one may be hidden.');
  });
});

describe('three lines', () => {
  const outlook = (promises: boolean) => ({ text: 'As far as is known.', promises });

  it('of the lock: its own mistakes, what may be one, or none', () => {
    expect(lines([own(), own(), overlap('went-on-trying', 'liveness')]).lock).toBe(
      'its own mistake in 3 findings: it was overwritten ×2, the lock went on trying ×1.',
    );
    expect(lines([own(), unexplained()]).lock).toBe(
      'its own mistake in 1 finding: it was overwritten. 1 finding is unexplained.',
    );
    expect(lines([unexplained(), unexplained()], { found: { exclusion: 5 } }).lock).toBe(
      'no mistake of its own is proven, but 2 findings are unexplained and 3 more are counted without a cause: each may be one.',
    );
  });

  it('of the deployment: what it lost, and whether a lock can be safe there', () => {
    expect(lines([lostIn(1)], { outlook: outlook(false) }).deployment).toBe(
      'Redis lost 1 grant in a failover. As far as is known.',
    );
    expect(lines([], { outlook: outlook(true) }).deployment).toBe(
      'Redis is not known to have lost what it had granted. As far as is known.',
    );
    // What it is said to keep it was seen to lose.
    expect(lines([lostIn(1)], { outlook: outlook(true) }).deployment).toBe('Redis lost 1 grant in a failover.');
  });

  it('of the leases: who outslept them, and what contains it', () => {
    expect(lines([asleep(), asleep()]).leases).toBe('2 holders outslept theirs; fencing contains it.');
    expect(lines([overlap('not-told', 'stale')]).leases).toBe(
      '1 finding of a stale holder, none of which only its lease explains.',
    );
    expect(lines([]).leases).toBe('no holder was found at work past its lease beside another holder.');
    expect(lines([], { open: ['stale'] }).leases).toMatch(/cannot be told\.$/);
    expect(judge(turns(12).whole(30).input(), []).words!.leases).toBe(
      'whether a holder outslept its lease was not judged.',
    );
  });

  it('are left out of results of earlier versions', () => {
    expect(verdictLines({})).toEqual([]);
    expect(verdictLines(judged([]))).toHaveLength(3);
    expect(firstWords({ verdict: 'violated', found: { stale: 1 } })).toBe('VIOLATED');
  });
});

it('in few words leaves out the reasons', () => {
  expect(fewWords(judged([lostIn(1)]))).toBe('VIOLATED: not safe on sentinel');
  expect(fewWords(judged([asleep()]))).toBe('VIOLATED: 1 holder outslept its lease');
  expect(fewWords(judged([], { struck: 412 }))).toBe('HELD in 412 strikes');
});

it('tells what happened on a run that was cut short', () => {
  const cut = judge(new Story().grant('c1', 1).input(), []);
  expect(cut.words).toMatchObject({ verdict: 'CANNOT TELL', lock: expect.stringContaining('no checker judges') });
});

describe('a run that was played in virtual time', () => {
  const why = 'this machine allows no network namespaces';
  const results = judged([], { struck: 300, virtualTime: { why, remedy: 'an engine' } });

  it('says so, why, what brings real time, and how it was shortened', () => {
    expect(results.virtualTime).toBe(
      `Played in virtual time: ${why}; for real time: an engine; shortened: 12 s in place of 20 s`,
    );
    expect(judged([], { virtualTime: { why: 'as asked' } }).virtualTime).toMatch(/^Played in virtual time, as asked;/);
    expect(judged([]).virtualTime).toBeUndefined();
  });

  it('has a strength that says so', () => {
    expect(results.strength).toBe(
      '0 of 300 strikes violated; at most 0.99 % at 95 % (600 holds struck), in virtual time',
    );
    expect(results.words!.lock).toContain('in 300 strikes in virtual time at 600 holds: at most');
    expect(judged([], { struck: 300 }).words!.lock).toContain('in 300 strikes at 600 holds: at most');
  });
});
