import type { Scenario } from '../harness/vocabulary/workload.js';
import { askWhileHeld } from './acts/requirements.js';

export const onlyOneHolds: Scenario = {
  name: 'only-one-holds',
  claim: 'of all who want the lock only one has it at a time (SET NX PX with a random value)',
  truth: 'on one healthy server the key is there or it is not: who asks meanwhile is refused, and each has it in turn',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [],
  play: askWhileHeld,
};
