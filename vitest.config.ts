import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      // A busy machine may take many times longer: a time-out here is for what hangs.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 60_000 } },
      {
        // Real Redis, real namespaces: one file at a time, because two runs on two cores would disturb each other's timing.
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/global-setup.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
