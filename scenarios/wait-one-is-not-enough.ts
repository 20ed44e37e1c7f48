import type { Scenario } from '../harness/vocabulary/workload.js';
import { promoteTheIgnorant } from './acts/promotion.js';

export const waitOneIsNotEnough: Scenario = {
  name: 'wait-one-is-not-enough',
  claim: 'WAIT 1 mends the loss of locks on failover',
  truth: 'with two replicas one has acknowledged and the other can be promoted, and that one never heard of the lock',
  topology: 'replica',
  lock: 'wait-replicated',
  settings: { leaseMs: 12_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  play: promoteTheIgnorant,
};
