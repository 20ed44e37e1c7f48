import type { Scenario } from '../harness/vocabulary/workload.js';

export const negativeExpiry: Scenario = {
  name: 'negative-expiry',
  claim: 'to give no lease is to get the usual one',
  truth:
    '-1 that is turned into milliseconds before it is compared is an expiry in the past: the key is gone as soon as it is set',
  topology: 'single',
  lock: 'broken/negative-expiry',
  settings: { leaseMs: 3_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap' }],
  async play(stage) {
    const [one, other] = [stage.client(1), stage.client(2)];
    const first = await one.acquire('lock:0');
    const second = await other.acquire('lock:0');
    stage.check('both are granted the lock', first.type === 'ok' && second.type === 'ok');
    await other.release(second);
    await one.release(first);
  },
};
