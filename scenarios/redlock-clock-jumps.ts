import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, oneClockJumps } from './acts/bare-majority.js';

export const redlockClockJumps: Scenario = {
  name: 'redlock-clock-jumps',
  claim: 'Redlock needs no synchronised clocks',
  truth:
    'it needs clocks that do not jump: where three of five granted, one that is set forward past the lease breaks it',
  topology: 'redlock',
  lock: 'redlock',
  settings: DURABLE,
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'clock-jumped' }],
  play: (stage) => oneClockJumps(stage, 2),
};
