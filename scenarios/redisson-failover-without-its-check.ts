import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const redissonFailoverWithoutItsCheck: Scenario = {
  name: 'redisson-failover-without-its-check',
  claim: 'checkLockSyncedSlaves only costs time: without it RLock is as safe as with it',
  truth: 'without it a failover grants the lock to a second client while the first one holds it',
  topology: 'sentinel',
  lock: 'redisson/rlock-no-sync',
  settings: { leaseMs: 20_000, keys: 1 },
  // A Redisson client takes seconds to find the new primary: on a busy machine its record has gaps by then, and no cause.
  expect: [{ class: 'exclusion', kind: 'overlap' }],
  async play(stage) {
    await loseByFailover(stage);
  },
};
