import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const redissonFailoverWithoutItsCheck: Scenario = {
  name: 'redisson-failover-without-its-check',
  claim: 'checkLockSyncedSlaves only costs time: without it RLock is as safe as with it',
  truth: 'without it the lock is granted though no replica has it, and a failover grants it to a second client',
  topology: 'sentinel',
  lock: 'redisson/rlock-no-sync',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'granted-unacknowledged' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
