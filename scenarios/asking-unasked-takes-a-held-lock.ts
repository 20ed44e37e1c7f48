import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isLookedAt, primaryFor } from './acts/asking.js';

export const askingUnaskedTakesAHeldLock: Scenario = {
  name: 'asking-unasked-takes-a-held-lock',
  claim: 'ASKING does no harm: a node that is not concerned answers MOVED all the same',
  truth:
    'a node that a slot is moving to takes what is asked with ASKING, and does not know what its owner still holds: the lock is granted twice',
  topology: 'cluster',
  lock: 'broken/asking-always',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'asking-unasked' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const held = await granted(stage, holder, 'lock:0');
    const move = await stage.strike('move-slot', { names: [old.name] }, { until: 'importing' });
    // Which of the nodes it asks first is by chance.
    const second = await granted(stage, other, 'lock:0');
    await isLookedAt(stage, old);
    await other.release(second);
    await holder.release(held);
    await move.heal();
  },
};
