import { describe, expect, it } from 'vitest';
import { verdictChanged } from '../../../../cli/judge/judged-before.js';
import type { BlameName, Results, Violation } from '../../../../harness/vocabulary/verdict.js';
import { results } from './series-rows.js';

const ALL = ['exclusion', 'stale', 'harm', 'liveness'] as const;
const blamed = (on: BlameName, violations: string[]): Violation[] =>
  results(violations).violations.map((one) => ({ ...one, blame: { on, theory: '' } }));
const unknown = (reason: string): Results => ({ ...results([], 'unknown'), reasons: [reason] });

describe('what is said of a run whose verdict differs', () => {
  it('is nothing where it does not', () => {
    expect(verdictChanged(results([]), results([]), ALL)).toBeUndefined();
    expect(verdictChanged(results(['stale client-paused']), results(['exclusion evicted']), ALL)).toBeUndefined();
  });

  it('is what is found now, or no longer', () => {
    const two = results(['exclusion evicted', 'exclusion evicted']);
    expect(verdictChanged(results([], 'held'), two, ALL)).toMatch(
      /^judged before, this run was held; it is violated now: found now: exclusion broken \(overlap, evicted\) ×\d$/,
    );
    expect(verdictChanged(two, results([], 'held'), ALL)).toContain(
      'no longer found: exclusion broken (overlap, evicted)',
    );
  });

  it('is what cannot be told now, or could not be then', () => {
    expect(verdictChanged(results([], 'held'), unknown('a server was not watched'), ALL)).toBe(
      'judged before, this run was held; it is unknown now: cannot be told now: a server was not watched',
    );
    expect(verdictChanged(unknown('a server was not watched'), results([], 'held'), ALL)).toContain(
      'could not be told then: a server was not watched',
    );
  });

  it("counts only what fails the run: of the lock's mistakes these", () => {
    const before = { ...results([], 'held'), violations: blamed('lease', ['stale client-paused']) };
    const now = { ...results(['x']), violations: blamed('lock', ['stale granted-late']) } as Results;
    expect(verdictChanged(before, { ...now, verdict: 'violated' }, ['lock'])).toMatch(
      /it is violated now: found then, too, and fails it now: stale holder \(overlap, granted-late\) ×1$/,
    );
    const open = blamed('unexplained', ['exclusion unexplained']);
    const then = { ...results(['x']), violations: blamed('lock', ['exclusion released-by-itself']) } as Results;
    expect(verdictChanged(then, { ...unknown('1 finding without a proven cause'), violations: open }, ['lock'])).toBe(
      'judged before, this run was violated; it is unknown now: still found, and no longer fails it: exclusion broken (overlap, unexplained) ×1; cannot be told now: 1 finding without a proven cause',
    );
    // Another one than before.
    const other = blamed('lock', ['exclusion evicted']).map((one) => ({ ...one, key: 'another' }));
    expect(verdictChanged({ ...before, violations: open }, { ...now, violations: other }, ['lock'])).toMatch(
      /it is violated now: found now: exclusion broken \(overlap, evicted\) ×1$/,
    );
  });
});
