import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isWatched } from './acts/asking.js';

export const redissonFencedAfterDataLoss: Scenario = {
  name: 'redisson-fenced-after-data-loss',
  claim: 'the tokens of RFencedLock make up for whatever the lock loses',
  truth: 'the counter is lost with the lock: two holders have the same token, and no resource can tell them apart',
  topology: 'single',
  lock: 'redisson/fenced',
  settings: { leaseMs: 30_000, keys: 1, persistence: 'none' },
  expect: [
    { class: 'exclusion', kind: 'overlap', cause: 'node-forgot' },
    { class: 'harm', kind: 'fence-repeat', cause: 'node-forgot' },
  ],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await granted(stage, holder, 'lock:0');
    const crash = await stage.strike('kill', 'primary');
    await crash.heal();
    await isWatched(stage, stage.topology.nodes[0]!);
    const second = await granted(stage, other, 'lock:0');
    stage.check('both have the same token', first.token !== undefined && first.token === second.token);
    await other.release(second);
    await holder.release(first);
  },
};
