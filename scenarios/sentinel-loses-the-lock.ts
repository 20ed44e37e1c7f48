import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const sentinelLosesTheLock: Scenario = {
  name: 'sentinel-loses-the-lock',
  claim: 'Sentinel makes the lock highly available',
  truth:
    'it makes the server highly available: a majority decides which server is primary, but none checks whether it has the lock',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
