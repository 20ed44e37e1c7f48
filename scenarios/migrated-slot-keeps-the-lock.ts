import type { Scenario } from '../harness/vocabulary/workload.js';
import { primaryFor } from './acts/asking.js';
import { grantedThroughout } from './acts/slots.js';

export const migratedSlotKeepsTheLock: Scenario = {
  name: 'migrated-slot-keeps-the-lock',
  claim: 'a lock that is held is lost, or its lease begins anew, when the servers move its slot by themselves',
  truth:
    'CLUSTER MIGRATESLOTS brings the key along with the time that it has left, and its holder releases it at its new owner',
  topology: 'cluster',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  serverNeeds: { oneOf: ['CLUSTER|MIGRATESLOTS'], server: 'valkey@9' },
  needs: ['slots-at-once'],
  expect: [],
  play: (stage) =>
    grantedThroughout(stage, async (old) => {
      const move = await stage.strike('migrate-slots', { names: [old.name] });
      await move.heal();
      return primaryFor(stage, 'lock:0', old);
    }),
};
