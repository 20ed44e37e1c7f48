import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isListening } from './acts/asking.js';

export const redissonInterruptedLock: Scenario = {
  name: 'redisson-interrupted-lock',
  claim: 'a thread that is interrupted in lock() goes on without the lock',
  truth: 'lock() of Redisson 4.7.0, 3.16.4 and 3.15.6 waits on, and returns when the thread has the lock',
  topology: 'single',
  lock: 'redisson/rlock:lock',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const held = await granted(stage, holder, 'lock:0');
    const waiting = waiter.acquire('lock:0', { cancelAfterMs: 500 });
    await isListening(stage, 'lock:0');
    let answered = false;
    void waiting.then(() => {
      answered = true;
    });
    await stage.sleep(2_000);
    stage.check('it waits on, though it was interrupted', !answered);
    await holder.release(held);
    const answer = await waiting;
    const told = 'reason' in answer ? String(answer.reason) : '';
    stage.check(`then it returns (${answer.type} ${told})`, answer.type === 'ok');
    await waiter.release(answer);
  },
};
