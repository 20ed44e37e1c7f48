import type { Scenario } from '../harness/vocabulary/workload.js';
import { keepThroughHandover } from './acts/planned-failover.js';

export const handoverKeepsTheLock: Scenario = {
  name: 'handover-keeps-the-lock',
  claim: 'a planned failover loses what a failover loses',
  truth:
    'FAILOVER TO waits until the replica has every write: a lock that is held stays held, keeps its lease, and is released by its holder',
  topology: 'replica',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    await keepThroughHandover(stage, 'failover-to');
  },
};
