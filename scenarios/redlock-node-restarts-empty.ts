import type { Scenario } from '../harness/vocabulary/workload.js';
import { isWatched } from './acts/asking.js';
import { DURABLE, grantOnThreeOfFive, takeBeside } from './acts/bare-majority.js';

export const redlockNodeRestartsEmpty: Scenario = {
  name: 'redlock-node-restarts-empty',
  claim: 'Redlock really solves the loss of locks: no single node matters',
  truth:
    'where three of five granted, one of them that restarts without its data makes a majority that never heard of the lock',
  topology: 'redlock',
  lock: 'redlock',
  settings: DURABLE,
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'node-forgot' }],
  async play(stage) {
    const { held, granted } = await grantOnThreeOfFive(stage);
    const amnesia = await stage.strike('amnesia', { names: [granted[2]!.name] });
    await amnesia.heal();
    await isWatched(stage, granted[2]!);
    await takeBeside(stage, held);
  },
};
