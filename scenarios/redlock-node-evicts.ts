import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, grantOnThreeOfFive, takeBeside } from './acts/bare-majority.js';

export const redlockNodeEvicts: Scenario = {
  name: 'redlock-node-evicts',
  claim: 'with Redlock a full server does no harm',
  truth: 'where three of five granted, one that throws the lock away to make room is enough to break it',
  topology: 'redlock',
  lock: 'redlock',
  settings: { ...DURABLE, maxmemoryPolicy: 'volatile-ttl' },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'evicted' }],
  async play(stage) {
    const { held, granted } = await grantOnThreeOfFive(stage);
    const pressure = await stage.strike('evict', { names: [granted[2]!.name] });
    await takeBeside(stage, held);
    await pressure.heal();
  },
};
