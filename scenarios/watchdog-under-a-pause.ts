import type { Scenario } from '../harness/vocabulary/workload.js';

export const watchdogUnderAPause: Scenario = {
  name: 'watchdog-under-a-pause',
  claim: 'a watchdog keeps the lock in your hand for as long as you work',
  truth: 'it sleeps when its process does: a holder that is paused for a lease wakes up beside the next one',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 1_500, keys: 1, resource: 'trusting' },
  expect: [
    { class: 'stale', kind: 'overlap', cause: 'client-paused' },
    { class: 'harm', kind: 'stale-write', cause: 'client-paused' },
  ],
  async play(stage) {
    const [sleeper, other] = [stage.client(1), stage.client(2)];
    const first = await sleeper.acquire('lock:0');
    const pause = await stage.strike('pause', { names: [sleeper.name] });
    const late = sleeper.write(first, 1);

    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    await other.write(second, 2);
    await stage.sleep(100); // its work, in which the sleeper wakes up
    await pause.heal();
    stage.check('the resource takes the late write', (await late).type === 'ok');
    await other.release(second);
  },
};
