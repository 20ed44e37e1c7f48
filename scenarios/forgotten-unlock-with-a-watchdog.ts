import type { Scenario } from '../harness/vocabulary/workload.js';

export const forgottenUnlockWithAWatchdog: Scenario = {
  name: 'forgotten-unlock-with-a-watchdog',
  claim: 'a lease makes sure that a forgotten unlock is no deadlock',
  truth: 'the watchdog of a process that lives renews for ever what that process forgot to unlock',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 1_800, keys: 1 },
  expect: [],
  async play(stage) {
    const [forgetful, other] = [stage.client(1), stage.client(2)];
    stage.check('it is granted', (await forgetful.acquire('lock:0')).type === 'ok');
    // Nothing is unlocked from here on.
    const refused = await other.acquire('lock:0', { waitMs: 3 * stage.leaseMs });
    stage.check('another client is refused for three leases', refused.type === 'fail');
    const [server] = stage.topology.nodes;
    stage.check('and the lock stands', Number(await server!.command('EXISTS', 'lock:0')) === 1);
  },
};
