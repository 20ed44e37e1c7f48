import type { Scenario } from '../harness/vocabulary/workload.js';
import { refuseOneRenewal } from './acts/refused-renewal.js';

export const redissonFailedRenewal: Scenario = {
  name: 'redisson-failed-renewal',
  claim: 'after one renewal that failed Redisson renews the lock no more',
  truth: 'Redisson 4.7.0 logs the failure and renews again a third of the time-out later; 3.16.4 and 3.15.6 do not',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const held = await refuseOneRenewal(stage);
    const refused = await other.acquire('lock:0', { waitMs: 2 * stage.leaseMs });
    stage.check('it is renewed again: another client is refused for two leases', refused.type === 'fail');
    stage.check('its holder gives it back', (await holder.release(held)).type === 'ok');
  },
};
