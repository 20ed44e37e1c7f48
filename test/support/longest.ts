/**
 * Files that take longer than their size says, those of each layer in the order in which they begin; all others follow as Vitest
 * has them. Longest first, but for what measures links: beside what takes all processors its answers come late.
 */
export const LONGEST = [
  'test/unit/recorded-runs.test.ts',
  'test/unit/harness/run/scheduler-limits.test.ts',
  'test/unit/cli/judge/hostile-fields.test.ts',
  'test/unit/checkers/many-commands.test.ts',
  'test/unit/harness/record/facts/ledger.test.ts',
  'test/unit/checkers/linearizability/search.test.ts',
  'test/unit/checkers/causes/oracle.test.ts',
  'test/unit/checkers/linearizability/against-brute-force.test.ts',

  'test/redis/bin/setup.test.ts',
  'test/redis/harness/client/client.test.ts',
  'test/redis/lock-impl/shared-locks.test.ts',
  'test/redis/lock-impl/locks.test.ts',
  // When set-up, which compiles, is over.
  'test/redis/harness/machine/link-shaper.test.ts',

  'test/runs/nemesis-faults.test.ts',
  'test/runs/runs.test.ts',
  'test/runs/resilience.test.ts',
  'test/runs/workloads.test.ts',

  'test/runs/sharing/unprivileged.test.ts',
  'test/runs/sharing/docker.test.ts',
  'test/runs/sharing/hunt-same.test.ts',
  'test/runs/sharing/installed.test.ts',
  'test/runs/sharing/conformance.test.ts',
  'test/runs/sharing/external.test.ts',
  'test/runs/sharing/hunt.test.ts',
  'test/runs/sharing/ordinary-user.test.ts',
  'test/runs/sharing/hunt-campaign.test.ts',
];
