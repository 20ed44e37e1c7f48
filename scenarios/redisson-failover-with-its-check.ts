import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';

export const redissonFailoverWithItsCheck: Scenario = {
  name: 'redisson-failover-with-its-check',
  claim: 'RLock survives a failover: it is granted only when the replicas have it',
  truth: 'a grant that no replica acknowledges in time is an error to its client, which does not have the lock then',
  topology: 'sentinel',
  lock: 'redisson/rlock',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [asks, other] = [stage.client(1), stage.client(2)];
    const lag = await stage.strike('lag', 'replica');
    const first = await asks.acquire('lock:0');
    stage.check('the primary’s grant alone is no grant', first.type !== 'ok');
    const death = await stage.strike('kill', 'primary');
    await other.release(await granted(stage, other, 'lock:0'));
    await lag.heal();
    await death.heal();
  },
};
