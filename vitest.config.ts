import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.js';
import { probedTags } from './test/support/needs.js';

const tags = await probedTags();
const isDeep = process.env.LOCK_TORTURE_TEST_DEEP === '1';
// A busy machine may take many times longer: a time-out here is for what hangs.
const real = {
  tags,
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: isDeep ? 7_200_000 : 300_000,
  hookTimeout: 300_000,
};
/** What is compiled is loaded as it is. */
const compiledAsItIs = { server: { deps: { external: [/\/dist\//] } } };
// One file at a time, because what runs beside it would disturb its timing.
const serial = { ...real, fileParallelism: false };

// The layers run one after the other, so that each is measured by itself and no whole run is disturbed by other tests.
export default defineConfig({
  test: {
    reporters: ['default', './test/support/layer-times.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // No process but the test's own.
        test: {
          name: 'unit',
          tags,
          include: ['test/unit/**/*.test.ts'],
          testTimeout: isDeep ? 7_200_000 : 60_000,
          maxWorkers: 2,
          // A worker loads a module once for all its files: to load them for each anew took as long as the tests themselves.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Processes, but no run: they mostly wait, so more at once than there are cores. Each file has servers of its own.
        test: {
          ...real,
          name: 'redis',
          include: ['test/redis/**/*.test.ts'],
          maxWorkers: 5,
          ...compiledAsItIs,
          sequence: { groupOrder: 1 },
        },
      },
      // What each canary and each published library does by itself: as many processes, and no run.
      {
        test: { ...real, name: 'locks', include: ['test/locks/*.test.ts'], maxWorkers: 4, sequence: { groupOrder: 3 } },
      },
      // Whole runs: some that show every main capability, which `npm test` has too, and the others.
      {
        test: {
          ...real,
          name: 'smoke',
          include: ['test/runs/smoke/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...serial, name: 'timed', include: ['test/runs/timed/*.test.ts'], sequence: { groupOrder: 4 } } },
      // Runs that must hold mostly wait: two at once leave each other the time that their leases need.
      { test: { ...real, name: 'runs', include: ['test/runs/*.test.ts'], maxWorkers: 2, sequence: { groupOrder: 5 } } },
      {
        // Runs and deployments of which nothing is asked that a busy machine could change: no run must be HELD, nothing is
        // timed. A file whose runs mostly wait takes half a core, so that four keep two cores busy.
        test: {
          ...real,
          name: 'sharing',
          include: ['test/runs/sharing/*.test.ts'],
          maxWorkers: 4,
          ...compiledAsItIs,
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
});
