import type { Scenario } from '../harness/vocabulary/workload.js';
import { knownTo, primaryFor } from './acts/asking.js';
import { dieWithout } from './acts/promotion.js';

export const promotedBeforeItsFirstSync: Scenario = {
  name: 'promoted-before-its-first-sync',
  claim: 'a lock that every replica has survives the death of the primary',
  truth:
    'a replica that was replaced, and has not had its first sync yet, is promoted like any other where nobody else is left: empty',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'unexplained' }],
  async play(stage) {
    const holder = stage.client(1);
    const primary = await primaryFor(stage, 'lock:0');
    const replicas = stage.topology.nodes.filter((node) => node !== primary);
    const [replaced, kept] = replicas;
    const first = await holder.acquire('lock:0');
    stage.check('it is granted', first.type === 'ok');
    await knownTo(stage, replicas, 'lock:0');
    const lag = await stage.strike('lag', { names: [replaced!.name] });
    const replacement = await stage.strike('amnesia', { names: [replaced!.name] });
    await replacement.heal();
    // Nobody else is left: the empty one is promoted.
    await dieWithout(kept!, stage);
    await lag.heal();
    await holder.release(first);
  },
};
