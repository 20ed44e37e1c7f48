import type { Scenario } from '../harness/vocabulary/workload.js';
import { overstay } from './acts/overstay.js';

export const redissonWatchdogUnderAPause: Scenario = {
  name: 'redisson-watchdog-under-a-pause',
  claim: 'lock() of Redisson is held until unlock(): the watchdog prolongs it for as long as the client lives',
  truth: 'a client that sleeps for lockWatchdogTimeout (30 s by default) wakes up beside the next holder',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 2_400, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'client-paused' }],
  play: (stage) => overstay(stage, 'pause'),
};
