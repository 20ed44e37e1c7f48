import type { Scenario } from '../harness/vocabulary/workload.js';

export const leaseEndsUnderSlowWork: Scenario = {
  name: 'lease-ends-under-slow-work',
  claim: 'with a lease of its own a lock needs neither an unlock nor a watchdog',
  truth: 'the lease ends whether the work is done or not, and a slow holder works on beside the next one',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 800, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'client-slow' }],
  async play(stage) {
    const [slow, other] = [stage.client(1), stage.client(2)];
    const first = await slow.acquire('lock:0');
    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    await stage.sleep(100); // work of both, side by side
    stage.check('the slow one learns of it when it unlocks', (await slow.release(first)).type === 'fail');
    await other.release(second);
  },
};
