import type { Scenario } from '../harness/vocabulary/workload.js';
import { primaryFor } from './acts/asking.js';
import { grantedThroughout, refusedOf } from './acts/slots.js';

export const movedSlotKeepsTheLock: Scenario = {
  name: 'moved-slot-keeps-the-lock',
  claim: 'a lock that is held is lost, or its lease begins anew, when its slot moves to another shard',
  truth:
    'MIGRATE takes the key along with the time that it has left: before it, in the midst of it and afterwards others are refused, and its holder releases it where it is then',
  topology: 'cluster',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  play: (stage) =>
    grantedThroughout(stage, async (old) => {
      const move = await stage.strike('move-slot', { names: [old.name] }, { until: 'keys' });
      await refusedOf(stage, 'by the one that is to have the slot');
      await move.heal();
      return primaryFor(stage, 'lock:0', old);
    }),
};
