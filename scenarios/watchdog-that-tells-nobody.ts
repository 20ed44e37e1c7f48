import type { Scenario } from '../harness/vocabulary/workload.js';

export const watchdogThatTellsNobody: Scenario = {
  name: 'watchdog-that-tells-nobody',
  claim: 'a watchdog that goes on trying after a failure is good enough',
  truth:
    'one that does not look at the time as well lets its client work on beside the next holder for as long as the cut lasts',
  topology: 'single',
  lock: 'broken/renewal-unchecked',
  settings: { leaseMs: 1_500, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'client-cut-off' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    await holder.acquire('lock:0');
    const cut = await stage.strike('partition', { names: [holder.name] });
    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    await stage.sleep(stage.leaseMs / 3); // work of both, side by side
    await other.release(second);
    await cut.heal();
  },
};
