import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, havingKey } from './acts/asking.js';

export const restartWithASyncedLog: Scenario = {
  name: 'restart-with-a-synced-log',
  claim: 'a server that crashes loses its locks',
  truth:
    'not with a log that is synced with every write: it comes back with the lock, and refuses until the lease is over',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 6_000, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const crash = await stage.strike('kill', 'primary');
    await crash.heal();

    stage.check('the server has the lock', (await havingKey(stage.topology.nodes, 'lock:0')).length === 1);
    await holder.abandon(first);
    // When the lease is over.
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
  },
};
