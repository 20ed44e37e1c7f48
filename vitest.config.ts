import { defineConfig } from 'vitest/config';

// A busy machine may take many times longer: a time-out here is for what hangs.
const real = { globalSetup: ['test/support/global-setup.ts'], testTimeout: 120_000, hookTimeout: 120_000 };

// The layers run one after the other, so that each is measured by itself and no whole run is disturbed by other tests.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: process.env.LOCK_TORTURE_DEEP === '1' ? 7_200_000 : 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Processes, but no run: they mostly wait, so more at once than there are cores. Each file has servers of its own.
        test: {
          ...real,
          name: 'redis',
          include: ['test/redis/**/*.test.ts'],
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // One file at a time, because two runs on two cores would disturb each other's timing.
        test: {
          ...real,
          name: 'runs',
          include: ['test/runs/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
