import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, primaryFor } from './acts/asking.js';

export const minReplicasBoundsTheWindow: Scenario = {
  name: 'min-replicas-bounds-the-window',
  claim: 'min-replicas-to-write mends split brain',
  truth: 'it bounds it: a primary that is cut off grants until min-replicas-max-lag is over, and refuses only then',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: { leaseMs: 12_000, minReplicasToWrite: 1, redisConf: [['min-replicas-max-lag', '4']] },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    const [cutOff, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const cut = await stage.strike('partition', { names: [old.name, cutOff.name] });
    const first = await cutOff.acquire('lock:0');
    stage.check('the primary that is cut off grants the lock', first.type === 'ok');
    await primaryFor(stage, 'lock:0', old);
    // Its successor grants the lock once more.
    await granted(stage, other, 'lock:0');
    await stage.until('the one that is cut off refuses', async () => {
      const answer = await cutOff.acquire('lock:1', { leaseMs: 100 });
      if (answer.type === 'ok') await cutOff.release(answer);
      return answer.type === 'fail' && answer.reason === 'noreplicas';
    });
    await cut.heal();
  },
};
