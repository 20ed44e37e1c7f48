import type { Scenario } from '../harness/vocabulary/workload.js';
import { askWhileHeld } from './acts/requirements.js';

export const redlockOnlyOneHolds: Scenario = {
  name: 'redlock-only-one-holds',
  claim: 'of all who want the lock only one has it at a time (Redlock)',
  truth: 'who asks while a majority has granted it gets no majority, and each has it in turn',
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  play: askWhileHeld,
};
