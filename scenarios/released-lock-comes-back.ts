import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, havingKey, knownTo, primaryFor } from './acts/asking.js';

export const releasedLockComesBack: Scenario = {
  name: 'released-lock-comes-back',
  claim: 'a lock that was released is free',
  truth:
    'a replica that did not hear of the release still has the lock when it is promoted, and refuses everybody until the lease ends',
  topology: 'replica',
  lock: 'set-nx-px',
  settings: { leaseMs: 7_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const held = await holder.acquire('lock:0');
    // Any replica may be promoted and has it: the replicas are asked themselves.
    const replicas = stage.topology.nodes.filter((node) => node !== old);
    await knownTo(stage, replicas, 'lock:0');
    const lag = await stage.strike('lag', 'replica');
    stage.check('the primary releases it', (await holder.release(held)).type === 'ok');
    const death = await stage.strike('kill', 'primary');

    const next = await primaryFor(stage, 'lock:0', old);
    stage.check('its successor has the lock', (await havingKey([next], 'lock:0')).length === 1);
    await lag.heal();
    // When the lease that was released is over.
    const again = await granted(stage, other, 'lock:0');
    await other.release(again);
    await death.heal();
  },
};
