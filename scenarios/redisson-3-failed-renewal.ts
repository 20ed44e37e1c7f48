import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { refuseOneRenewal } from './acts/refused-renewal.js';

export const redisson3FailedRenewal: Scenario = {
  name: 'redisson-3-failed-renewal',
  claim: 'a moment without the server does the watchdog of Redisson 3.16.4 no harm',
  truth: 'after one renewal that failed it renews no more, and the lock ends under its holder, who is told nothing',
  topology: 'single',
  lock: 'redisson/watchdog@3.16.4',
  settings: { leaseMs: 3_000, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await refuseOneRenewal(stage);
    const second = await granted(stage, other, 'lock:0');
    await stage.sleep(300); // work of both, side by side
    stage.check('the late unlock is refused', (await holder.release(first)).type === 'fail');
    await other.release(second);
  },
};
