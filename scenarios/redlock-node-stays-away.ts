import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, stayAwayForALease } from './acts/bare-majority.js';

export const redlockNodeStaysAway: Scenario = {
  name: 'redlock-node-stays-away',
  claim: 'a Redlock node that lost its data breaks the lock',
  truth: 'not if it stays away until every lease that it may have granted is over, as the algorithm asks',
  topology: 'redlock',
  lock: 'redlock',
  settings: { ...DURABLE, leaseMs: 5_000 },
  expect: [],
  play: (stage) => stayAwayForALease(stage, 'amnesia'),
};
