import type { Scenario } from '../harness/vocabulary/workload.js';
import { overstay } from './acts/overstay.js';

export const redissonWatchdogUnderACut: Scenario = {
  name: 'redisson-watchdog-under-a-cut',
  claim: 'a holder that its watchdog cannot prolong any more learns that it lost the lock',
  truth: 'Redisson tells nobody: a client that is cut off for lockWatchdogTimeout works on beside the next holder',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 2_400, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'client-cut-off' }],
  play: (stage) => overstay(stage, 'partition'),
};
