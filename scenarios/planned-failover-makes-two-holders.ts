import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, primaryFor } from './acts/asking.js';

export const plannedFailoverMakesTwoHolders: Scenario = {
  name: 'planned-failover-makes-two-holders',
  claim: 'a failover that an operator plans with Sentinel harms nothing, for nothing is broken',
  truth:
    'SENTINEL FAILOVER promotes a replica and tells the old primary nothing: clients that stay with it are granted locks for nine seconds more, which others are granted by the new one',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    const [stays, comes] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    // It is connected to the old primary, and has no reason to ask the Sentinels again.
    await stays.release(await granted(stage, stays, 'lock:0'));
    const failover = await stage.strike('sentinel-failover', { names: [old.name] });
    const first = await granted(stage, stays, 'lock:0');
    // One that is started now asks the Sentinels, and finds the new primary.
    const restart = await stage.strike('kill', { names: [comes.name] });
    await restart.heal();
    const second = await granted(stage, comes, 'lock:0');
    await comes.release(second);
    await stays.release(first);
    await failover.heal();
  },
};
