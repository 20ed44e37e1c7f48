import type { Scenario } from '../harness/vocabulary/workload.js';
import { keepThroughHandover } from './acts/planned-failover.js';

export const clusterHandoverKeepsTheLock: Scenario = {
  name: 'cluster-handover-keeps-the-lock',
  claim: 'a planned failover in a Cluster loses what a failover loses',
  truth:
    'CLUSTER FAILOVER waits until the replica has every write: a lock that is held stays held, keeps its lease, and is released by its holder',
  topology: 'cluster',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    await keepThroughHandover(stage, 'cluster-failover');
  },
};
