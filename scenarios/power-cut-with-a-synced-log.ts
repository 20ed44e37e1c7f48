import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, havingKey } from './acts/asking.js';

export const powerCutWithASyncedLog: Scenario = {
  name: 'power-cut-with-a-synced-log',
  claim: 'a server that loses power loses its locks',
  truth:
    'not where the log is synced with every write, before the answer: it comes back with the lock, and refuses until the lease is over',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 6_000, keys: 1, persistence: 'aof-always' },
  needs: ['disk'],
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const outage = await stage.strike('power-cut', 'primary');
    await outage.heal();

    stage.check('the server has the lock', (await havingKey(stage.topology.nodes, 'lock:0')).length === 1);
    await holder.abandon(first);
    // When the lease is over.
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
  },
};
