import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const clusterLosesTheLock: Scenario = {
  name: 'cluster-loses-the-lock',
  claim: 'in a Cluster many servers have the lock, so it outlives any of them',
  truth:
    'each key is on one primary and, a little later, on its replica: when the primary dies in between, the lock is gone',
  topology: 'cluster',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
