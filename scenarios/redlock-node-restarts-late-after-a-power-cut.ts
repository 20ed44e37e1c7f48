import type { Scenario } from '../harness/vocabulary/workload.js';
import { DURABLE, stayAwayForALease } from './acts/bare-majority.js';

export const redlockNodeRestartsLateAfterAPowerCut: Scenario = {
  name: 'redlock-node-restarts-late-after-a-power-cut',
  claim: 'Redlock needs a log that is synced with every write, or a power cut breaks it',
  truth:
    'not if a node that lost power stays away until every lease that it may have granted is over: delayed restarts',
  topology: 'redlock',
  lock: 'redlock',
  // What a node syncs once a second is what a power cut takes, and nothing else here does.
  settings: { ...DURABLE, leaseMs: 5_000, redisConf: [['appendfsync', 'everysec']] },
  needs: ['disk'],
  expect: [],
  play: (stage) => stayAwayForALease(stage, 'power-cut'),
};
