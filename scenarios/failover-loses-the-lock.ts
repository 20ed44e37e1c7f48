import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const failoverLosesTheLock: Scenario = {
  name: 'failover-loses-the-lock',
  claim: 'with a replica to take over, a dead primary costs a moment of waiting and no lock',
  truth:
    'replication comes after the answer: what the primary granted last died with it, and its successor grants it again',
  topology: 'replica',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
