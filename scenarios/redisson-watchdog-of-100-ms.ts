import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';

export const redissonWatchdogOf100Ms: Scenario = {
  name: 'redisson-watchdog-of-100-ms',
  claim: 'lockWatchdogTimeout may be 100 ms: the watchdog renews the lock every 33 ms',
  truth:
    'one renewal that takes 100 ms comes too late: the key is gone, another client has the lock, and nobody tells the holder',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 100, keys: 1 },
  expect: [{ class: 'stale', kind: 'overlap' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await granted(stage, holder, 'lock:0');
    const slow = await stage.strike('delay', { names: [holder.name] }, { delayMs: 3 * stage.leaseMs });
    const second = await granted(stage, other, 'lock:0');
    await stage.sleep(stage.leaseMs);
    await slow.heal();
    await holder.release(first);
    await other.release(second);
  },
};
