/**
 * How many random cases a property is tried on: a sample in every run, a hundred times as many with `LOCK_TORTURE_TEST_DEEP=1`, a tenth
 * with `LOCK_TORTURE_TEST_FEW=1`, for what runs a test hundreds of times (`tools/mutants`): there the first case that fails is enough.
 *
 * The draw is fixed, so that a sample which must hold enough of each kind does so in every run; `LOCK_TORTURE_TEST_SEED` draws
 * others.
 */
const isDeep = process.env.LOCK_TORTURE_TEST_DEEP === '1';
const isFew = process.env.LOCK_TORTURE_TEST_FEW === '1';

export const SEED = Number(process.env.LOCK_TORTURE_TEST_SEED ?? 20_260_104);

/** The number of cases to try instead of `sample`. */
export const cases = (sample: number): number => Math.ceil(sample * (isDeep ? 100 : isFew ? 0.1 : 1));

/** For `fc.assert`. */
export const drawn = (sample: number) => ({ numRuns: cases(sample), seed: SEED, endOnFailure: isFew });
