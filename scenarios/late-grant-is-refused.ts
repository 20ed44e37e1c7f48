import type { Scenario } from '../harness/vocabulary/workload.js';
import { answerLate } from './acts/late-answer.js';

export const lateGrantIsRefused: Scenario = {
  name: 'late-grant-is-refused',
  claim: 'a delay before the grant breaks every lock with a lease',
  truth: 'not one that looks at the time before it says yes: what came together too late is refused and given back',
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 8_000, keys: 1 },
  expect: [],
  async play(stage) {
    const { late, others } = await answerLate(stage);
    stage.check('it is refused as granted too late', late.type === 'fail' && late.reason === 'granted-late');
    stage.check('the other one holds still', (await stage.client(2).release(others)).type === 'ok');
  },
};
