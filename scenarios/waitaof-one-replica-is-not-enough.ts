import type { Scenario } from '../harness/vocabulary/workload.js';
import { promoteTheIgnorant } from './acts/promotion.js';

export const waitaofOneReplicaIsNotEnough: Scenario = {
  name: 'waitaof-one-replica-is-not-enough',
  claim: 'what is on two disks (WAITAOF 1 1) outlives a failover',
  truth: 'it is on the disk of one replica of two, and the other one can be promoted, which never heard of the lock',
  topology: 'replica',
  lock: 'waitaof',
  settings: { leaseMs: 12_000, keys: 1, persistence: 'aof-always' },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  play: promoteTheIgnorant,
};
