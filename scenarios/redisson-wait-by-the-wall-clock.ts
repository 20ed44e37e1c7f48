import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isListening } from './acts/asking.js';

export const redissonWaitByTheWallClock: Scenario = {
  name: 'redisson-wait-by-the-wall-clock',
  claim: 'tryLock(wait) waits for as long as it was told',
  truth:
    'the wait is told by the wall clock: a client whose clock is set forward gives up early, at the next moment that it wakes up',
  topology: 'single',
  lock: 'redisson/rlock',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    const held = await granted(stage, holder, 'lock:0');
    const waitMs = 60_000;
    const beganMs = stage.nowMs();
    const waiting = waiter.acquire('lock:0', { waitMs });
    await isListening(stage, 'lock:0');
    const jump = await stage.strike('clock', { names: [waiter.name] }, { offsetMs: 2 * waitMs });
    // It sleeps until it hears of an unlock, of this one which there was not as well.
    await server.command('PUBLISH', 'redisson_lock__channel:{lock:0}', '0');
    const answer = await waiting;
    const afterMs = stage.nowMs() - beganMs;
    stage.check(
      `it gave up after ${Math.round(afterMs)} of ${waitMs} ms`,
      answer.type === 'fail' && afterMs < waitMs / 2,
    );
    await jump.heal();
    await holder.release(held);
  },
};
