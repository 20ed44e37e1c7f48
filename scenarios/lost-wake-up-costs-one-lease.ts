import type { Scenario } from '../harness/vocabulary/workload.js';
import { isListening } from './acts/asking.js';

export const lostWakeUpCostsOneLease: Scenario = {
  name: 'lost-wake-up-costs-one-lease',
  claim: 'who waits for a message that never comes waits for ever',
  truth: 'not where the wait is bounded by the lease of the holder: it costs one lease at most',
  topology: 'single',
  lock: 'reentrant',
  settings: { leaseMs: 2_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    await holder.acquire('lock:0');
    const waiting = waiter.acquire('lock:0', { waitMs: 10_000 });
    await isListening(stage, 'lock:0');
    // That the lock is free is published by no client.
    const death = await stage.strike('kill', { names: [holder.name] });
    const next = await waiting;
    stage.check('the waiter has the lock all the same', next.type === 'ok');
    await waiter.release(next);
    await death.heal();
  },
};
