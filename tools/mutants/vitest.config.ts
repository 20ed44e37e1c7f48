import { defineConfig } from 'vitest/config';

/** The unit tests of one folder, without what the project's own configuration finds out about the machine. */
export default defineConfig({
  test: { include: [`${process.env.MUTANTS_TESTS ?? 'test/unit'}/**/*.test.ts`], testTimeout: 60_000 },
});
