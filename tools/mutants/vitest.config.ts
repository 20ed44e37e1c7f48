import { defineConfig } from 'vitest/config';

/** The unit tests of some folders, without what the project's own configuration finds out about the machine. */
export default defineConfig({
  test: {
    include: (process.env.MUTANTS_TESTS ?? 'test/unit')
      .split(',')
      .map((one) => (one.endsWith('.ts') ? one : `${one}/**/*.test.ts`)),
    testTimeout: 60_000,
    env: { LOCK_TORTURE_TEST_FEW: '1' },
    // Seconds each, for what only size can break.
    testNamePattern: /^(?!.*(without a stack of its|lists the first thousand))/,
  },
});
