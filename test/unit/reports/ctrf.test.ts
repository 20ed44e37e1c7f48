/** The Common Test Report Format, against its own schema. */
import { validateStrict } from 'ctrf';
import { describe, expect, it } from 'vitest';
import type { CheckerResult, Results } from '../../../harness/vocabulary/verdict.js';
import { ctrfJson } from '../../../reports/ctrf.js';
import { sampleInput } from './sample.js';

const input = sampleInput();
const [first, ...others] = input.results.checkers;

const told = (results: Partial<Results> = {}) =>
  JSON.parse(ctrfJson({ ...input, results: { ...input.results, ...results } })).results;

describe('ctrf', () => {
  it('keeps to the schema', () => {
    expect(() => validateStrict(JSON.parse(ctrfJson(input)))).not.toThrow();
  });

  it('is a test for each checker, and one for the verdict, which takes the time of the run', () => {
    const { tests, summary } = told();
    expect(tests.map(({ name, status, rawStatus }: Record<string, string>) => [name, status, rawStatus])).toEqual([
      ['mutual-exclusion', 'failed', 'violated'],
      ['vacuity', 'passed', 'passed'],
      ['liveness', 'passed', 'passed'],
      ['verdict', 'failed', 'violated'],
    ]);
    expect(summary).toMatchObject({ tests: 4, passed: 2, failed: 2, skipped: 0, other: 0 });
    expect(summary.stop - summary.start).toBe(tests.at(-1).duration);
    expect(tests[0].message).toMatch(/^exclusion broken, the deployment's: c2/);
    expect(tests[0].trace).toContain('Reproduce: npm run torture -- --topology sentinel --seed 42');
  });

  it('is not green where nothing is proven', () => {
    const unknown: CheckerResult = { ...first!, verdict: 'unknown', violations: [], notes: ['too few holds'] };
    const checkers = [unknown, ...others];
    const { tests } = told({ verdict: 'unknown', exitStatus: 2, reasons: ['too few holds'], violations: [], checkers });
    expect([tests[0].status, tests[0].rawStatus, tests[0].message]).toEqual([
      'failed',
      'unknown',
      'unknown: too few holds',
    ]);
    expect([tests.at(-1).status, tests.at(-1).rawStatus]).toEqual(['failed', 'unknown']);
  });

  it("shows a lock's own words, cut and without what hides text", () => {
    const text = ctrfJson({ ...input, config: { ...input.config, lock: `\u001b[31m${'x'.repeat(10_000)}\u202e` } });
    expect(JSON.parse(text).results.environment.extra.lock.length).toBeLessThan(600);
    for (const hidden of ['\\u001b', '\u001b', '\u202e']) expect(text).not.toContain(hidden);
  });
});
