import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const redissonFailoverWithoutItsCheck: Scenario = {
  name: 'redisson-failover-without-its-check',
  claim: 'checkLockSyncedSlaves only costs time: without it RLock is as safe as with it',
  truth: 'without it a failover grants the lock to a second client while the first one holds it',
  topology: 'sentinel',
  lock: 'redisson/rlock-no-sync',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
