import type { Scenario } from '../harness/vocabulary/workload.js';

export const waitRefusesWhatNoReplicaHas: Scenario = {
  name: 'wait-refuses-what-no-replica-has',
  claim: 'WAIT only makes a lock slower',
  truth: 'what no replica has acknowledged is refused and given back, and so cannot be lost by a failover',
  topology: 'replica',
  lock: 'wait-replicated',
  settings: { leaseMs: 4_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [one, other] = [stage.client(1), stage.client(2)];
    const lag = await stage.strike('lag', 'replica');
    const refused = await one.acquire('lock:0');
    stage.check('it is refused for want of a replica', refused.type === 'fail' && refused.reason === 'not-replicated');
    await lag.heal();
    const next = await other.acquire('lock:0', { waitMs: 10_000 });
    stage.check('with its replicas it is granted again', next.type === 'ok');
    await other.release(next);
  },
};
