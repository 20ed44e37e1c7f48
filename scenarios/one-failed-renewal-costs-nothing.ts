import type { Scenario } from '../harness/vocabulary/workload.js';
import { failOneRenewal } from './acts/one-failed-renewal.js';

export const oneFailedRenewalCostsNothing: Scenario = {
  name: 'one-failed-renewal-costs-nothing',
  claim: 'one failed renewal ends the watchdog for good',
  truth: 'one that tries again at its next tick has the lock renewed before the lease is over',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 5_400, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const first = await failOneRenewal(stage);
    const second = await stage.client(2).acquire('lock:0', { waitMs: stage.leaseMs });
    stage.check('the lock is still held a lease later', second.type === 'fail');
    stage.check('its holder gives it back', (await stage.client(1).release(first)).type === 'ok');
  },
};
