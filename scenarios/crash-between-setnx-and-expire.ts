import type { Scenario } from '../harness/vocabulary/workload.js';

export const crashBetweenSetnxAndExpire: Scenario = {
  name: 'crash-between-setnx-and-expire',
  claim: 'SETNX followed by EXPIRE is a lock with a lease',
  truth: 'a client that crashes between the two leaves a lock that never ends',
  topology: 'single',
  lock: 'setnx-expire',
  settings: { leaseMs: 800, keys: 1 },
  expect: [{ class: 'liveness', kind: 'deadlock', cause: 'key-never-expires' }],
  async play(stage) {
    const [crashing, other] = [stage.client(1), stage.client(2)];
    await crashing.crashAt('after-setnx', (client) => client.acquire('lock:0'));
    const refused = await other.acquire('lock:0', { waitMs: 2 * stage.leaseMs });
    stage.check('another client is refused two leases later', refused.type === 'fail');
    const [server] = stage.topology.nodes;
    stage.check('the lock has no expiry', Number(await server!.command('PTTL', 'lock:0')) === -1);
  },
};
