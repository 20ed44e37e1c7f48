import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';

const BACK_MS = 3_000;

export const serverClockGoesBack: Scenario = {
  name: 'server-clock-goes-back',
  claim: 'a lock that is not given back is free again when its lease is over',
  truth:
    'the lease ends by the clock of the server: one that is set back keeps the lock of a dead holder for as much longer, and breaks nothing',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 1_500, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const nodes = { names: stage.topology.nodes.map(({ name }) => name) };
    const held = await holder.acquire('lock:0', { waitMs: 1_000 });
    stage.check('it is granted', held.type === 'ok');
    const back = await stage.strike('clock', nodes, { offsetMs: -BACK_MS });
    const death = await stage.strike('kill', { names: [holder.name] });

    const refused = await other.acquire('lock:0', { waitMs: stage.leaseMs + BACK_MS / 2 });
    stage.check('another client is refused long after the lease', refused.type === 'fail');
    const next = await granted(stage, other, 'lock:0');
    await other.release(next);
    // Set right again only now: for what was granted meanwhile that is a jump forward.
    await back.heal();
    await death.heal();
  },
};
