/** Files that take longer than their size says, longest first; all others follow as Vitest has them. */
export const LONGEST = [
  'test/unit/recorded-runs.test.ts',
  'test/unit/harness/run/scheduler-limits.test.ts',
  'test/unit/cli/judge/hostile-fields.test.ts',
  'test/unit/checkers/many-commands.test.ts',
  'test/unit/harness/record/facts/ledger.test.ts',
  'test/unit/checkers/linearizability/search.test.ts',
  'test/unit/checkers/causes/oracle.test.ts',
  'test/unit/checkers/linearizability/against-brute-force.test.ts',
];
