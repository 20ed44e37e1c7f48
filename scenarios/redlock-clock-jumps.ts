import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, grantOnThreeOfFive, takeBeside } from './acts/bare-majority.js';

export const redlockClockJumps: Scenario = {
  name: 'redlock-clock-jumps',
  claim: 'Redlock needs no synchronised clocks',
  truth:
    'it needs clocks that do not jump: where three of five granted, one that is set forward past the lease breaks it',
  topology: 'redlock',
  lock: 'redlock',
  settings: DURABLE,
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'clock-jumped' }],
  async play(stage) {
    const { held, granted } = await grantOnThreeOfFive(stage);
    const jump = await stage.strike('clock', { names: [granted[2]!.name] }, { offsetMs: 2 * stage.leaseMs });
    await takeBeside(stage, held);
    await jump.heal();
  },
};
