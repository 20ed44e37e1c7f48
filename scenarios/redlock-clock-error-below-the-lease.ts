import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, oneClockJumps } from './acts/bare-majority.js';

export const redlockClockErrorBelowTheLease: Scenario = {
  name: 'redlock-clock-error-below-the-lease',
  claim: 'clocks may be wrong, as long as the error is smaller than the lease (Redlock)',
  truth:
    'where three of five granted, one whose clock is off by nine tenths of the lease forgets that much earlier, and breaks it',
  topology: 'redlock',
  lock: 'redlock',
  settings: DURABLE,
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'clock-jumped' }],
  play: (stage) => oneClockJumps(stage, 0.9),
};
