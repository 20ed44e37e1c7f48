import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, knownTo, primaryFor } from './acts/asking.js';

export const waitOneIsNotEnough: Scenario = {
  name: 'wait-one-is-not-enough',
  claim: 'WAIT 1 mends the loss of locks on failover',
  truth: 'with two replicas one has acknowledged and the other can be promoted, and that one never heard of the lock',
  topology: 'replica',
  lock: 'wait-replicated',
  settings: { leaseMs: 12_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const primary = await primaryFor(stage, 'lock:0');
    const [acknowledging, ignorant] = stage.topology.nodes.filter((node) => node !== primary);
    const lag = await stage.strike('lag', { names: [ignorant!.name] });
    const first = await holder.acquire('lock:0');
    stage.check('one replica acknowledges, and the lock is granted', first.type === 'ok');
    await knownTo(stage, [acknowledging!], 'lock:0');
    const isolation = await stage.strike('partition', { names: [acknowledging!.name] });
    const death = await stage.strike('kill', 'primary');

    // The other replica is promoted, and grants the lock once more.
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
    await lag.heal();
    await isolation.heal();
    await death.heal();
    await holder.release(first);
  },
};
