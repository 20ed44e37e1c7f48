import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isListening } from './acts/asking.js';

export const redissonRestartUnderWaiters: Scenario = {
  name: 'redisson-restart-under-waiters',
  claim: 'a waiter of RLock whose subscription was lost in a restart of the server sleeps beside a free lock',
  truth: 'it subscribes again when the server is back, and the unlock wakes it',
  topology: 'single',
  lock: 'redisson/rlock',
  settings: { leaseMs: 60_000, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const held = await granted(stage, holder, 'lock:0');
    const waiting = waiter.acquire('lock:0', { waitMs: 50_000 });
    await isListening(stage, 'lock:0');
    const restart = await stage.strike('kill', 'primary');
    await restart.heal();
    await isListening(stage, 'lock:0');
    await holder.release(held);
    const then = await waiting;
    stage.check('the waiter is granted the lock', then.type === 'ok');
    await waiter.release(then);
  },
};
