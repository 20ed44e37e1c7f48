import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, leaseOver } from './acts/asking.js';

const SHORT_MS = 400;

export const redissonKeptObject: Scenario = {
  name: 'redisson-kept-object',
  claim: 'one RLock object may be locked with a lease now, and without one later',
  truth:
    'a lease that ends by itself stays in the object: the next lock() stores that one, and it is over before the first renewal',
  topology: 'single',
  lock: 'redisson/kept-object',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const brief = await holder.acquire('lock:0', { leaseMs: SHORT_MS });
    stage.check('it is granted for a short lease', brief.type === 'ok');
    await holder.abandon(brief);
    await leaseOver(stage, 'lock:0');
    const first = await granted(stage, holder, 'lock:0');
    const second = await granted(stage, other, 'lock:0');
    await stage.sleep(100); // work of both, side by side
    await other.release(second);
    await holder.release(first);
  },
};
