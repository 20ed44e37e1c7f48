import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, scriptsRun } from './acts/asking.js';

export const redissonRenewalEntryLeft: Scenario = {
  name: 'redisson-renewal-entry-left',
  claim: 'who lost a lock, and takes it again, has it renewed again by Redisson 3.15.6',
  truth:
    'the entry of the lost one stays in the table of renewals and is served no more: the next grant ends with its first lease',
  topology: 'single',
  lock: 'redisson/watchdog@3.15.6',
  settings: { leaseMs: 2_400, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    const lost = await granted(stage, holder, 'lock:0');
    await holder.abandon(lost);
    const before = await scriptsRun(server);
    await server.command('DEL', 'lock:0');
    await stage.until('a renewal finds it gone', async () => (await scriptsRun(server)) > before);
    const first = await granted(stage, holder, 'lock:0');
    const second = await granted(stage, other, 'lock:0');
    await stage.sleep(300); // work of both, side by side
    await holder.release(first);
    await other.release(second);
  },
};
