import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, primaryFor } from './acts/asking.js';

export const isolatedPrimary: Scenario = {
  name: 'isolated-primary',
  claim: 'there is one primary at a time',
  truth: 'one that is cut off with some of its clients goes on granting them what its successor has granted to others',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: {
    leaseMs: 12_000,
    keys: 1,
    redisConf: [
      ['repl-ping-replica-period', '1'],
      ['repl-timeout', '3'],
    ],
  },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'split-brain' }],
  async play(stage) {
    const [cutOff, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const cut = await stage.strike('partition', { names: [old.name, cutOff.name] });
    await primaryFor(stage, 'lock:0', old);
    const first = await granted(stage, other, 'lock:0');
    // The old primary grants it, too: a lock that asks for replicas has to wait until the primary has given them up.
    const second = await granted(stage, cutOff, 'lock:0');
    await cutOff.release(second);
    await other.release(first);
    await cut.heal();
  },
};
