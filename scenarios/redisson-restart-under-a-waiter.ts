import type { ServerNode } from '../harness/vocabulary/topology.js';
import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isListening, isWatched, scriptsRun } from './acts/asking.js';

export const redissonRestartUnderAWaiter: Scenario = {
  name: 'redisson-restart-under-a-waiter',
  claim: 'who waits for an RLock while its server restarts is never woken: its subscription is gone (redisson#6026)',
  truth: 'Redisson 4.7.0 subscribes again, and the waiter is woken by the unlock',
  topology: 'single',
  lock: 'redisson/rlock',
  settings: { leaseMs: 60_000, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const held = await granted(stage, holder, 'lock:0');
    const [server] = stage.topology.nodes as [ServerNode];
    const before = await scriptsRun(server);
    const waiting = waiter.acquire('lock:0', { waitMs: 40_000 });
    await isListening(stage, 'lock:0');
    // It asks once more when it listens. Killed before that the server would leave it without an answer, and it would not wait.
    await stage.until(`${waiter.name} has asked again`, async () => (await scriptsRun(server)) >= before + 2);
    const crash = await stage.strike('kill', 'primary');
    await crash.heal();
    await isWatched(stage, server);
    await isListening(stage, 'lock:0');
    stage.check('the holder gives it back', (await holder.release(held)).type === 'ok');
    const next = await waiting;
    stage.check('the waiter has it', next.type === 'ok');
    await waiter.release(next);
  },
};
