import { describe, expect, it } from 'vitest';
import type { BlameName, CheckerResult, FailOn, Results, Violation } from '../../../harness/vocabulary/verdict.js';
import { propertyLines } from '../../../reports/properties.js';
import { sampleInput } from './sample.js';

const { results } = sampleInput();
const ALL: FailOn[] = ['exclusion', 'harm', 'stale', 'liveness'];
const exclusion = { class: 'exclusion', holds: 'Never two at once', broken: 'Two at once' } as const;
const stale = { class: 'stale', holds: 'None was late', broken: 'One was late' } as const;

const checker = (of: Partial<CheckerResult>): CheckerResult => ({
  checker: 'some',
  properties: [exclusion, stale],
  verdict: 'valid',
  notes: [],
  violations: [],
  stats: {},
  ...of,
});
const lines = (of: Partial<CheckerResult>, failOn = ALL) =>
  propertyLines({ ...results, checkers: [checker(of)] } as Results, failOn);
const said = (of: Partial<CheckerResult>, failOn = ALL) =>
  lines(of, failOn).map(({ words, verdict }) => `${words}: ${verdict}`);
const [broken] = results.violations as [Violation];

describe('the line of each property', () => {
  it('has a line for each that passed', () => {
    expect(said({})).toEqual(['Never two at once: ✓ held', 'None was late: ✓ held']);
  });

  it('does not tick off what is worth little, and says why', () => {
    const worth = { holds: 'The run tested the lock', broken: 'It did not' };
    const weak = '4 strikes met a held lock';
    expect(lines({ properties: [worth], weak })).toEqual([
      { words: 'The run tested the lock', state: 'weak', verdict: '~ weakly', told: '4 strikes met a held lock.' },
    ]);
    expect(lines({ properties: [worth] })).toMatchObject([{ state: 'held', verdict: '✓ yes' }]);
    expect(lines({ properties: [worth], verdict: 'unknown', notes: ['why'] })).toMatchObject([{ state: 'unknown' }]);
  });

  it('says that it is broken, with the first, the longest and the causes', () => {
    const invalid = { verdict: 'invalid', violations: [broken], found: { exclusion: 1_300 } } as const;
    expect(said({ ...invalid, violations: [broken] })).toEqual([
      'Two at once: ✗ exclusion broken: 1,300',
      'None was late: ✓ held',
    ]);
    expect(lines({ ...invalid, violations: [broken] })[0]).toMatchObject({
      state: 'broken',
      told: "First at 10.388 s on lock:0; longest 812 ms. Cause: failover-lost-write ×1; the deployment's ×1 (of the first 1).",
    });
    expect(lines({ ...invalid, violations: [broken] }, ['stale'])[0]).toMatchObject({ state: 'allowed' });
    const by = (on: BlameName) => [{ ...broken, blame: { on, theory: '' } }];
    expect(lines({ ...invalid, violations: by('lock') }, ['lock'])[0]).toMatchObject({ state: 'broken' });
    expect(lines({ ...invalid, violations: by('unexplained') }, ['lock'])[0]).toMatchObject({ state: 'unknown' });
    expect(lines({ ...invalid, violations: by('lease') }, ['lock'])[0]).toMatchObject({ state: 'allowed' });
  });

  it('does not call held what was left open beside what was found', () => {
    const open = {
      verdict: 'invalid' as const,
      violations: [broken],
      open: ['stale' as const],
      notes: ['a clock moved'],
    };
    expect(lines(open)[1]).toMatchObject({
      words: 'None was late',
      state: 'unknown',
      verdict: '? cannot tell',
      told: 'a clock moved',
    });
  });

  it('cannot tell about all that a checker left open, or about the classes that it names', () => {
    expect(said({ verdict: 'unknown', notes: ['why'] })).toEqual([
      'Never two at once: ? cannot tell',
      'None was late: ? cannot tell',
    ]);
    expect(said({ verdict: 'unknown', open: ['stale'] })).toEqual([
      'None was late: ? cannot tell',
      'Never two at once: ✓ held',
    ]);
  });

  it('calls nothing held where there was nothing to judge', () => {
    expect(lines({ notJudged: 'no grant came with a token' })[0]).toMatchObject({
      state: 'not judged',
      told: 'no grant came with a token',
    });
  });

  it('calls nothing held in a run that cannot tell, or proved nothing', () => {
    const vacuous = checker({ properties: [{ holds: 'It was tested', broken: 'It was not' }], verdict: 'unknown' });
    const one = { verdict: 'unknown' as const, checkers: [checker({})] };
    expect(propertyLines(one, ALL).map(({ verdict }) => verdict)).toEqual(['– none found', '– none found']);
    const two = { verdict: 'violated' as const, checkers: [checker({}), vacuous] };
    expect(propertyLines(two, ALL).map(({ words, verdict }) => `${words}: ${verdict}`)).toEqual([
      'It was not: ? cannot tell',
      'Never two at once: – none found',
      'None was late: – none found',
    ]);
  });

  it('leads with the gravest class', () => {
    const harm = { class: 'harm', holds: 'No harm', broken: 'Harm' } as const;
    expect(said({ properties: [stale, harm, exclusion] }).map((line) => line.split(':')[0])).toEqual([
      'Never two at once',
      'No harm',
      'None was late',
    ]);
  });

  it('has no line for what only measures', () => {
    expect(said({ properties: [] })).toEqual([]);
  });

  it('reads results of earlier versions, which do not say what was decided', () => {
    const { properties: _, ...before } = checker({ violations: [broken], verdict: 'invalid' });
    expect(propertyLines({ ...results, checkers: [before] }, ALL)).toMatchObject([{ words: 'some', state: 'broken' }]);
    expect(
      propertyLines({ ...results, checkers: [{ ...before, violations: [], verdict: 'valid' }] }, ALL),
    ).toMatchObject([{ words: 'some', state: 'held' }]);
  });
});
