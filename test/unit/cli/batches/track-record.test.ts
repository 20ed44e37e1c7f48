/** What the entries of a track record come to together. */
import { describe, expect, it } from 'vitest';
import {
  type TrackRecordRow,
  trackRecordSheet,
  trackRecordSummary,
} from '../../../../cli/batches/track-record-command.js';
import { thoseThatMayBe } from '../../../../cli/batches/track-record-found.js';
import { BLAMES } from '../../../../harness/record/schemas/blame.js';
import type { BlameName, Violation, ViolationClass } from '../../../../harness/vocabulary/verdict.js';

function row(came: TrackRecordRow['came'], more: Partial<TrackRecordRow> = {}): TrackRecordRow {
  return {
    ...{
      id: 'C01',
      library: 'a-lock',
      broken: '1.0.0',
      mended: '1.0.1',
      what: 'It breaks.',
      link: 'https://example.org/1',
    },
    ...{ came, why: 'as seen', runs: [], ...more },
  };
}

describe('the summary', () => {
  it('counts what is not tried, and what is blamed where it was mended, among what was found', () => {
    const { headline } = trackRecordSummary([row('found'), row('blamed'), row('not-found'), row('not-tried')], 4);
    expect(headline).toBe(
      '2 of 4 bugs found in the version that had them, 1 silent in the one that mended it, 1 not found, 1 not tried',
    );
  });

  it.each([
    [0, ['found', 'not-found', 'not-tried'], 3],
    [1, ['found', 'blamed', 'could-not-run'], 3],
    [3, ['found', 'could-not-run'], 2],
    [2, ['not-tried', 'not-tried'], 2],
    [2, ['found'], 2],
  ] as const)('exit status %i of %j', (status, came, planned) => {
    const summary = trackRecordSummary(
      came.map((one) => row(one)),
      planned,
    );
    expect(summary.exitStatus).toBe(status);
  });
});

describe('the table', () => {
  it('leads to the last run of each, and says by which way it was found', () => {
    const runs = [{ version: '1.0.0', way: 'kind' as const, run: 'a-run', seed: 1 }];
    const { tables } = trackRecordSheet(trackRecordSummary([row('found', { by: 'kind', runs })], 1), 'x');
    expect(tables[0]!.rows[0]).toEqual([
      { text: 'C01', run: 'a-run' },
      ...['a-lock', '1.0.0', '1.0.1', 'It breaks.'],
      { text: 'found by the flags of its kind', good: true },
      'as seen',
      '',
    ]);
  });
});

describe('what may be the bug', () => {
  const found = (name: ViolationClass, on?: BlameName) =>
    ({ class: name, ...(on && { blame: { on, theory: '' } }) }) as unknown as Violation;

  it.each([
    ['exclusion', ['exclusion', 'stale', 'harm']],
    ['stale', ['stale']],
    ['liveness', ['liveness']],
    ['leak', ['liveness']],
    ['token', ['exclusion', 'stale', 'harm', 'liveness']],
  ] as const)('%s', (property, classes) => {
    const all = (['exclusion', 'stale', 'harm', 'liveness'] as const).map((name) => found(name, 'lock'));
    expect(thoseThatMayBe(property, all).map((one) => one.class)).toEqual(classes);
  });

  it('is the lock’s own mistake, or of nobody proven', () => {
    const may = BLAMES.filter((on) => thoseThatMayBe('exclusion', [found('exclusion', on)]).length > 0);
    expect(may).toEqual(['lock', 'unexplained']);
    expect(thoseThatMayBe('exclusion', [found('exclusion')])).toHaveLength(1);
  });
});
