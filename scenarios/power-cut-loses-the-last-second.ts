import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { KEYS, loseUnsynced } from './acts/power-cut.js';

export const powerCutLosesTheLastSecond: Scenario = {
  name: 'power-cut-loses-the-last-second',
  claim: 'appendfsync everysec is durable enough for locks: a second at most is lost',
  truth: 'that second is the one in which the lock was granted: the server that comes back grants it again',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 12_000, keys: KEYS, persistence: 'aof-everysec' },
  needs: ['disk'],
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'node-forgot' }],
  async play(stage) {
    const { key, held } = await loseUnsynced(stage);
    const other = stage.client(2);
    const second = await granted(stage, other, key);
    await other.release(second);
    await stage.client(1).release(held);
  },
};
