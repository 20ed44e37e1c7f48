import type { Scenario } from '../harness/vocabulary/workload.js';
import { answerLate } from './acts/late-answer.js';

export const lateGrantWithoutACheck: Scenario = {
  name: 'late-grant-without-a-check',
  claim: 'a majority of votes is a lock',
  truth: 'votes expire: counted without a look at the time they grant a lease that is over, beside the one who has it',
  topology: 'redlock',
  lock: 'broken/no-validity-check',
  settings: { leaseMs: 2_000, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'granted-late' }],
  async play(stage) {
    const { late, others } = await answerLate(stage);
    stage.check('it is granted a lease that is over', late.type === 'ok');
    await stage.sleep(100); // work of both, side by side
    await stage.client(1).release(late);
    await stage.client(2).release(others);
  },
};
