import type { Scenario } from '../harness/vocabulary/workload.js';
import { isListening } from './acts/asking.js';

export const lostWakeUpIsSleptThrough: Scenario = {
  name: 'lost-wake-up-is-slept-through',
  claim: 'a waiter is woken by the unlock, so it need not look again',
  truth: 'the death of a holder is not published: its waiters sleep beside a free lock until their own wait is over',
  topology: 'single',
  lock: 'broken/lost-wake-up',
  settings: { leaseMs: 1_200, keys: 1 },
  expect: [{ class: 'liveness', kind: 'slept' }],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    await holder.acquire('lock:0');
    const waiting = waiter.acquire('lock:0', { waitMs: 7_000 });
    await isListening(stage, 'lock:0');
    const death = await stage.strike('kill', { names: [holder.name] });
    const answer = await waiting;
    if (answer.type === 'ok') await waiter.release(answer);
    await death.heal();
  },
};
