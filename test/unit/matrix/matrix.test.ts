/** The matrix: that every cell can be run, and what a cell's runs come to. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Results } from '../../../harness/api.js';
import type { BatchRun } from '../../../harness/cli/batch.js';
import { parseRunFlags } from '../../../harness/cli/flags.js';
import { argvOf, begun, judgeCell } from '../../../harness/cli/matrix-command.js';
import { decideRun, readRunFlags } from '../../../harness/cli/run-command.js';
import { type Cell, cells, nameOf } from '../../../matrix/index.js';

const PROJECT = join(import.meta.dirname, '../../..');

describe('the cells', () => {
  test('have names of their own and a reason each', () => {
    expect(new Set(cells.map(nameOf)).size).toBe(cells.length);
    for (const { reason } of cells) expect(reason.length).toBeGreaterThan(10);
  });

  test.each(cells.map((cell) => [nameOf(cell), cell] as const))('%s can be run', (_, cell) => {
    const argv = argvOf(cell, 20_000);
    const { flags, given } = parseRunFlags(argv);
    const { plan, warnings } = decideRun(readRunFlags(flags, { argv, cwd: PROJECT, given }), {}, 1);
    if (flags.nemesis === 'none') expect(plan.steps).toEqual([]);
    else expect(plan.steps.length, warnings.join('; ')).toBeGreaterThan(0);
  });
});

const cell: Cell = {
  fault: 'some',
  lock: 'l',
  topology: 'single',
  expect: 'exclusion',
  flags: [],
  reason: 'because it is',
};

function came(expect: Cell['expect'], results: Partial<Results> | undefined) {
  const row = begun({ ...cell, expect });
  judgeCell(row, { seed: 1, results: results && { found: {}, headline: 'h', ...results } } as unknown as BatchRun);
  return row.shown;
}

describe('what a cell comes to', () => {
  test.each([
    ['exclusion', { verdict: 'violated', found: { exclusion: 1, stale: 3 } }, 'as-expected'],
    ['exclusion', { verdict: 'held' }, 'lacks-power'],
    ['exclusion', { verdict: 'unknown' }, 'lacks-power'],
    ['exclusion', { verdict: 'violated', found: { stale: 1 } }, 'otherwise'],
    ['stale', { verdict: 'violated', found: { stale: 1 } }, 'as-expected'],
    ['stale', { verdict: 'violated', found: { stale: 1, exclusion: 1 } }, 'otherwise'],
    ['harm', { verdict: 'violated', found: { harm: 1, exclusion: 1 } }, 'as-expected'],
    ['deadlock', { verdict: 'violated', found: { liveness: 1 } }, 'as-expected'],
    ['safe', { verdict: 'held' }, 'as-expected'],
    ['safe', { verdict: 'violated', found: { stale: 1 } }, 'otherwise'],
    ['safe', { verdict: 'unknown' }, 'cannot-tell'],
    ['safe', undefined, 'could-not-run'],
  ] as const)('must be %s, and was %j: %s', (expected, results, shown) => {
    expect(came(expected, results as Partial<Results> | undefined)).toBe(shown);
  });
});
