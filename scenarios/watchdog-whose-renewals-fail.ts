import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';

export const watchdogWhoseRenewalsFail: Scenario = {
  name: 'watchdog-whose-renewals-fail',
  claim: 'a watchdog keeps the lock in your hand for as long as you work',
  truth: 'when the server is away for a lease every renewal in it fails, and the lock is over before the work is',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 1_500, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const outage = await stage.strike('kill', 'primary');
    await stage.event('the holder learns that it is lost', ({ type }) => type === 'lost');
    await outage.heal();
    const second = await granted(stage, other, 'lock:0');
    stage.check('the late release is refused', (await holder.release(first)).type === 'fail');
    await other.release(second);
  },
};
