import type { Scenario } from '../harness/vocabulary/workload.js';
import { crashWhileHolding } from './acts/requirements.js';

export const crashedHolderFreesIt: Scenario = {
  name: 'crashed-holder-frees-it',
  claim: 'a holder that dies does not keep the lock for ever (SET NX PX with a random value)',
  truth: 'the server lets it go by itself: it is free again within a lease',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 2_000, keys: 1 },
  expect: [],
  play: crashWhileHolding,
};
