import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isWatched } from './acts/asking.js';

export const restartWithoutPersistence: Scenario = {
  name: 'restart-without-persistence',
  claim: 'a lock lives for seconds, so its server needs no persistence',
  truth: 'a server that restarts within the lease has forgotten it, and grants the lock to the next client',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1, persistence: 'none' },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'node-forgot' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const crash = await stage.strike('kill', 'primary');
    await crash.heal();
    await isWatched(stage, stage.topology.nodes[0]!);

    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
    await holder.release(first);
  },
};
