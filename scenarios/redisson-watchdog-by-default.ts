import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { renewalsFor } from './acts/renewals.js';

/** A timer is late on a busy machine, and early never. */
const EARLY_MS = 50;
const LATE_MS = 2_000;

export const redissonWatchdogByDefault: Scenario = {
  name: 'redisson-watchdog-by-default',
  claim:
    'with lockWatchdogTimeout as it comes, 30 s, a lock is renewed every 10 s, and free 30 s after its holder died',
  truth: 'it is: each third of the time-out a renewal begins the 30 s anew, and the last one runs to its end',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 30_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const third = stage.leaseMs / 3;
    await granted(stage, holder, 'lock:0');
    // Redisson 4.7.0 has a timer from each lock that it was granted just before: what one renews, it renews again a third later.
    const sentMs = await renewalsFor(stage, 2 * third - EARLY_MS);
    for (const n of [1, 2]) {
      const expectedMs = sentMs[0]! + n * third;
      const isThere = sentMs.some((at) => at >= expectedMs - EARLY_MS && at <= expectedMs + LATE_MS);
      const gaps = sentMs.map((at) => Math.round(at - sentMs[0]!)).join(', ');
      stage.check(`the first renewal is followed by one ${(n * third) / 1e3} s later (ms: ${gaps})`, isThere);
    }
    const death = await stage.strike('kill', { names: [holder.name] });
    const next = await other.acquire('lock:0', { waitMs: stage.leaseMs + LATE_MS });
    stage.check('another client is granted it', next.type === 'ok');
    const afterMs = stage.nowMs() - sentMs.at(-1)!;
    const told = `that was ${Math.round(afterMs)} ms after the last renewal left`;
    stage.check(told, afterMs >= stage.leaseMs - EARLY_MS && afterMs <= stage.leaseMs + LATE_MS);
    await other.release(next);
    await death.heal();
  },
};
