import type { Scenario } from '../harness/vocabulary/workload.js';
import { crashWhileHolding } from './acts/requirements.js';

export const crashedHolderWithAWatchdog: Scenario = {
  name: 'crashed-holder-with-a-watchdog',
  claim: 'a lock that is renewed for ever stays locked when its holder dies',
  truth: 'a dead process renews nothing: the lock is free within one lease',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 1_500, keys: 1 },
  expect: [],
  play: crashWhileHolding,
};
