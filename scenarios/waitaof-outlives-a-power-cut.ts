import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, havingKey } from './acts/asking.js';
import { grantedWhileUsed } from './acts/power-cut.js';

export const waitaofOutlivesAPowerCut: Scenario = {
  name: 'waitaof-outlives-a-power-cut',
  claim: 'with appendfsync everysec a power cut takes the locks of the last second',
  truth: 'not those that waited for the disk: WAITAOF 1 0 comes back when the log with the grant in it is synced',
  topology: 'single',
  lock: 'waitaof',
  settings: { leaseMs: 8_000, keys: 1, persistence: 'aof-everysec' },
  needs: ['disk'],
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const held = await grantedWhileUsed(stage, 'lock:0', 'busy:0');
    const outage = await stage.strike('power-cut', 'primary');
    await outage.heal();

    stage.check('the server has the lock', (await havingKey(stage.topology.nodes, 'lock:0')).length === 1);
    await holder.abandon(held);
    // When the lease is over.
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
  },
};
