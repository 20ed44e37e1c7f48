import type { Scenario } from '../harness/vocabulary/workload.js';
import { crashWhileHolding } from './acts/requirements.js';

export const redlockCrashedHolderFreesIt: Scenario = {
  name: 'redlock-crashed-holder-frees-it',
  claim: 'a holder that dies does not keep the lock for ever (Redlock)',
  truth: 'every node lets it go by itself: it is free again within a lease',
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 3_000, keys: 1 },
  expect: [],
  play: crashWhileHolding,
};
