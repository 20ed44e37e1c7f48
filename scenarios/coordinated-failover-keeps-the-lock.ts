import type { Scenario } from '../harness/vocabulary/workload.js';
import { keepThroughHandover } from './acts/planned-failover.js';

export const coordinatedFailoverKeepsTheLock: Scenario = {
  name: 'coordinated-failover-keeps-the-lock',
  claim: 'a failover that is planned with Sentinel makes two holders, however it is asked for',
  truth:
    'SENTINEL FAILOVER COORDINATED has the primary hand over: the replica has every write first, and a lock that is held stays held, keeps its lease, and is released by its holder',
  topology: 'sentinel',
  lock: 'set-nx-px',
  settings: { leaseMs: 20_000, keys: 1 },
  serverNeeds: { oneOf: ['DELIFEQ'], what: 'SENTINEL FAILOVER COORDINATED', server: 'valkey@9' },
  expect: [],
  async play(stage) {
    await keepThroughHandover(stage, 'sentinel-failover', { how: 'coordinated' });
  },
};
