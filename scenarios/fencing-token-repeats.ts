import type { Scenario } from '../harness/vocabulary/workload.js';
import { loseByFailover } from './acts/failover.js';

export const fencingTokenRepeats: Scenario = {
  name: 'fencing-token-repeats',
  claim: 'fencing tokens make up for whatever the lock loses',
  truth:
    'a counter on the same server is lost with the lock: two holders get the same token, and no resource can tell them apart',
  topology: 'replica',
  lock: 'fenced',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [
    { class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' },
    { class: 'harm', kind: 'fence-repeat', cause: 'failover-lost-write' },
  ],
  async play(stage) {
    const { first, second } = await loseByFailover(stage);
    stage.check('both have the same token', first.token !== undefined && first.token === second.token);
  },
};
