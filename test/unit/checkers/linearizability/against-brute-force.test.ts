/**
 * Every fast procedure against an oracle that tries everything, on random small histories of every model and reading.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../../../checkers/linearizability/decide.js';
import type { DecideOptions, Reading } from '../../../../checkers/linearizability/types.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { drawn, SEED } from '../../../support/drawn.js';
import { isExplainable, type SmallOp } from './brute-force.js';
import { keyHistory, MODELS, only, smallHistories } from './small-histories.js';

/** Histories a model. */
const RUNS = 2_000;

const OPTIONS: DecideOptions = { witnesses: 3, search: { configurations: 1e6, steps: 1e7 } };

/** With leases there are more instants to try: the histories are shorter. */
const LEASES = [
  { name: 'without leases', leases: false, share: 0.6, most: 12 },
  { name: 'with leases', leases: true, share: 0.4, most: 10 },
];

const CASES = MODELS.flatMap((model) => LEASES.map((one) => ({ ...one, model, kind: model.kind })));

describe(`decide agrees with an oracle that tries everything (LOCK_TORTURE_TEST_SEED=${SEED})`, () => {
  test.each(CASES)('$kind, $name', ({ model, leases, share, most }) => {
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(
        smallHistories(model, { most, leases }),
        fc.boolean(),
        fc.integer({ min: 0, max: 2 }),
        (ops, failedReleaseEnds, tries) => {
          const reading: Reading = { failedReleaseEnds, leases, triesInform: tries === 0 };
          seen[compare(ops, model, reading)]++;
        },
      ),
      drawn(RUNS * share),
    );
    const total = seen.valid + seen.invalid;
    expect(seen.valid / total).toBeGreaterThan(0.1);
    expect(seen.invalid / total).toBeGreaterThan(0.1);
  });
});

/** The verdict, the certificate that comes with it, and nothing that calls itself a bug. */
function compare(ops: readonly SmallOp[], model: LockModel, reading: Reading): 'valid' | 'invalid' {
  const expected = isExplainable(ops, model, reading) ? 'valid' : 'invalid';
  const { verdict, witnesses, found, linearization, notes } = decide(keyHistory(ops), model, reading, OPTIONS);
  const bugs = notes.filter((note) => note.includes('bug'));
  if (verdict !== expected || bugs.length > 0) expect({ verdict, bugs }).toEqual({ verdict: expected, bugs: [] });
  if ((linearization !== undefined) !== (expected === 'valid')) expect.fail('a linearization, or the lack of one');
  if (expected === 'valid') return expected;
  if (witnesses.length === 0 || witnesses.length > Math.min(found, OPTIONS.witnesses))
    expect.fail('too few or too many');
  for (const { kind, rows } of witnesses)
    if (isExplainable(only(ops, rows), model, reading)) expect.fail(`a ${kind} of rows ${rows} that is possible`);
  return expected;
}
