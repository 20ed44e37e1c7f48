import { describe, expect, it } from 'vitest';
import type { BlameName, Results } from '../../../harness/vocabulary/verdict.js';
import { reports } from '../../../reports/index.js';
import { junitXml } from '../../../reports/junit.js';
import { tagsOf } from './reading.js';
import { sampleInput } from './sample.js';

const input = sampleInput();
const { results } = input;

/** Names of the cases, each with the outcomes that it carries. */
function cases(xml: string): [name: string, ...outcomes: string[]][] {
  const out: [string, ...string[]][] = [];
  for (const tag of tagsOf(xml)) {
    if (tag.name === 'testcase') out.push([tag.attributes.name!]);
    if (['failure', 'error', 'skipped'].includes(tag.name)) out.at(-1)!.push(tag.name);
  }
  return out;
}

const held: Results = {
  ...results,
  verdict: 'held',
  exitStatus: 0,
  violations: [],
  checkers: results.checkers.map((one) => ({ ...one, verdict: 'valid', violations: [] })),
};

describe('junit', () => {
  it('is a case for each checker and a failure for each violation', () => {
    const xml = junitXml(results);
    expect(cases(xml)).toEqual([
      ['mutual-exclusion', 'failure', 'failure', 'failure'],
      ['vacuity'],
      ['liveness'],
      ['verdict', 'failure'],
    ]);
    expect(xml).toContain(
      '<testsuite name="lock-torture 20260314-092653-sentinel" tests="4" failures="2" errors="0" skipped="0">',
    );
    expect(xml).toContain('type="exclusion">exclusion broken, the deployment&apos;s: c2');
    expect(xml).toContain('Reproduce: npm run torture -- --topology sentinel --seed 42');
  });

  it('counts all failures where only the first are written out', () => {
    const [first, ...others] = results.checkers;
    const found = { exclusion: 14_201, stale: 5 };
    const xml = junitXml({ ...results, checkers: [{ ...first!, found }, ...others] }, ['exclusion']);
    expect(cases(xml)[0]).toEqual(['mutual-exclusion', 'failure', 'failure', 'failure']);
    expect(xml).toContain('14,199 more violations were found; the first 2 are in results.json');
  });

  it('is green only for a run that held', () => {
    expect(cases(junitXml(held)).flatMap(([, ...outcomes]) => outcomes)).toEqual([]);
  });

  it('has the verdict and its three lines as properties, and a warning for what is let through', () => {
    const properties = (of: Results) =>
      [...junitXml(of).matchAll(/<property name="(.*?)" value="(.*?)"\/>/g)].map(([, name, value]) => [name, value]);
    expect(properties(results)).toEqual([
      ['verdict', results.words!.verdict],
      ['lock', results.words!.lock],
      ['deployment', results.words!.deployment],
      ['leases', results.words!.leases],
    ]);
    const words = { ...results.words!, verdict: 'PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock' };
    const passed: Results = { ...results, words, verdict: 'held', exitStatus: 0 };
    expect(properties(passed).slice(0, 2)).toEqual([
      ['verdict', words.verdict],
      ['warning', words.verdict],
    ]);
    expect(junitXml(results)).toContain(
      '<testcase classname="lock-torture" name="verdict"><failure message="VIOLATED: not safe on',
    );
  });

  it('an unknown run or checker is an error, never green and never skipped', () => {
    const words = { ...held.words!, verdict: 'CANNOT TELL' };
    const vacuous: Results = { ...held, words, verdict: 'unknown', exitStatus: 2, reasons: ['too few holds'] };
    expect(cases(junitXml(vacuous)).at(-1)).toEqual(['verdict', 'error']);
    expect(junitXml(vacuous)).toContain('message="CANNOT TELL: too few holds"');
    const [first, ...others] = held.checkers;
    const unsure: Results = {
      ...vacuous,
      checkers: [{ ...first!, verdict: 'unknown', notes: ['out of budget'] }, ...others],
    };
    expect(cases(junitXml(unsure))[0]).toEqual(['mutual-exclusion', 'error']);
    expect(junitXml(unsure)).toContain('tests="4" failures="0" errors="2"');
  });

  it('a violated run is red even where no checker says why', () => {
    expect(cases(junitXml({ ...held, verdict: 'violated', exitStatus: 1 })).at(-1)).toEqual(['verdict', 'failure']);
  });

  it('tells the gravest mistake first, within a case and among the cases, and cuts off none of the lock', () => {
    const [first, vacuity, liveness] = results.checkers;
    const blamed = (on: BlameName, at: number, kind = 'overlap') => {
      const blame = { on, theory: '' };
      return { ...first!.violations[0]!, kind, blame, fromNs: at * 1e9, untilNs: (at + 1) * 1e9 };
    };
    const many = Array.from({ length: 150 }, (_, n) => blamed('deployment', n));
    const mixed = { ...first!, violations: [blamed('lease', 1), ...many, blamed('lock', 200)] };
    const late = { ...liveness!, verdict: 'invalid' as const, violations: [blamed('lock', 300, 'deadlock')] };
    const xml = junitXml({ ...results, checkers: [{ ...mixed, violations: many }, vacuity!, late] });
    expect(cases(xml).map(([name]) => name)).toEqual(['liveness', 'mutual-exclusion', 'vacuity', 'verdict']);
    const [told] = junitXml({ ...results, checkers: [mixed] }).match(/<failure [^>]*>/)!;
    expect(told).toContain('the lock&apos;s mistake');
  });

  it('what is counted only may be known: an error where what is known does not fail the run', () => {
    const [first, ...others] = results.checkers;
    const violations = first!.violations.map((one) => ({ ...one, known: 'allowed' as const }));
    const checkers = [{ ...first!, violations, found: { exclusion: 50, stale: 1 } }, ...others];
    const xml = junitXml({ ...results, verdict: 'unknown', exitStatus: 2, violations, checkers });
    expect(cases(xml)[0]).toEqual(['mutual-exclusion', 'error']);
    expect(xml).toContain('48 findings more than are explained one by one');
    expect(xml).toContain('allowed, does not fail this run: exclusion broken');
  });

  it('prints what was allowed without failing', () => {
    const lenient = reports['junit.xml']({ ...input, config: { ...input.config, failOn: ['exclusion'] } });
    expect(cases(lenient)[0]).toEqual(['mutual-exclusion', 'failure', 'failure']);
    expect(lenient).toContain('allowed, does not fail this run: stale holder');
  });

  it("fails by the lock's own mistakes, and is an error where it is not known whether there is one", () => {
    const by = (...blamed: BlameName[]) => {
      const [first, ...others] = results.checkers;
      const violations = first!.violations.map((one, n) => ({
        ...one,
        blame: { on: blamed[n]!, theory: 'What to do.', link: 'https://example.org/' },
      }));
      return junitXml({ ...results, checkers: [{ ...first!, violations }, ...others] }, ['lock']);
    };
    const own = by('lock', 'unexplained', 'lease');
    expect(cases(own)[0]).toEqual(['mutual-exclusion', 'failure']);
    expect(own).toContain('Whose mistake: lock. What to do. (https://example.org/)');
    expect(own).toContain('cannot tell whose mistake it is: exclusion broken');
    expect(own).toContain('allowed, does not fail this run: stale holder');
    expect(own).not.toContain('more violations were found');
    const open = by('unexplained', 'deployment', 'lease');
    expect(cases(open)[0]).toEqual(['mutual-exclusion', 'error']);
    expect(open).toContain('message="unknown: 1 finding without a proven cause, which may be the lock&apos;s mistake"');
    expect(cases(by('deployment', 'deployment', 'lease'))[0]).toEqual(['mutual-exclusion']);
  });

  it('escapes, and drops what XML forbids', () => {
    const nasty = `"]]><x>'&\u0000\u0008\u001b\ufffe\ud800`;
    const evil = structuredClone(results);
    evil.runId = evil.headline = evil.reproduce = nasty;
    evil.checkers[0]!.checker = nasty;
    evil.checkers[0]!.notes = [nasty];
    for (const violation of evil.checkers[0]!.violations) {
      violation.proof = violation.key = violation.cause.sentence = nasty;
    }
    const xml = junitXml(evil);
    expect(cases(xml)).toHaveLength(4);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u);
    expect(xml).toContain('&quot;]]&gt;&lt;x&gt;&apos;&amp;');
  });
});
