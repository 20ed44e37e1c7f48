import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { failOneRenewal } from './acts/one-failed-renewal.js';

export const oneFailedRenewalEndsTheWatchdog: Scenario = {
  name: 'one-failed-renewal-ends-the-watchdog',
  claim: 'a moment without the server does a watchdog no harm',
  truth:
    'one that plans its next renewal where the last one succeeded never renews again, and the lock ends under its holder',
  topology: 'single',
  lock: 'broken/watchdog-dies',
  settings: { leaseMs: 5_400, keys: 1, persistence: 'aof-always' },
  expect: [{ class: 'stale', kind: 'overlap' }],
  async play(stage) {
    const other = stage.client(2);
    const first = await failOneRenewal(stage);
    // The lock ends though the server is back, and the next client has it.
    const second = await granted(stage, other, 'lock:0');
    await stage.sleep(100); // work of both, side by side
    stage.check('the late release is refused', (await stage.client(1).release(first)).type === 'fail');
    await other.release(second);
  },
};
