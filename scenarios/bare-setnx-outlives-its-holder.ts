import type { Scenario } from '../harness/vocabulary/workload.js';

export const bareSetnxOutlivesItsHolder: Scenario = {
  name: 'bare-setnx-outlives-its-holder',
  claim: 'SETNX is all that a lock needs',
  truth: 'a holder that crashes takes the lock with it: no client ever gets it again',
  topology: 'single',
  lock: 'setnx',
  settings: { leaseMs: 800, keys: 1 },
  expect: [{ class: 'liveness', kind: 'deadlock', cause: 'key-never-expires' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    stage.check('it is granted', (await holder.acquire('lock:0')).type === 'ok');
    const death = await stage.strike('kill', { names: [holder.name] });
    const refused = await other.acquire('lock:0', { waitMs: 2 * stage.leaseMs });
    stage.check('another client is refused two leases later', refused.type === 'fail');
    await death.heal();
  },
};
