import type { Scenario } from '../harness/vocabulary/workload.js';
import { isListening } from './acts/asking.js';

export const redissonFairDeadWaiter: Scenario = {
  name: 'redisson-fair-dead-waiter',
  claim: 'a waiter that dies in the queue of the fair lock blocks it for ever',
  truth: 'its place ends by itself; who stands behind it waits some seconds longer',
  topology: 'single',
  lock: 'redisson/fair',
  settings: { leaseMs: 60_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, dies, next] = [stage.client(1), stage.client(2), stage.client(3)];
    const held = await holder.acquire('lock:0');
    stage.check('it is granted', held.type === 'ok');
    const never = dies.acquire('lock:0', { waitMs: 60_000 });
    await isListening(stage, 'lock:0');
    const waiting = next.acquire('lock:0', { waitMs: 60_000 });
    await stage.until('both stand in the queue', async () => {
      const server = stage.topology.nodes[0]!;
      return Number(await server.command('LLEN', 'redisson_lock_queue:{lock:0}')) === 2;
    });
    const death = await stage.strike('kill', { names: [dies.name] });
    await holder.release(held);
    const then = await waiting;
    stage.check('who stood behind it is granted the lock', then.type === 'ok');
    await next.release(then);
    await death.heal();
    await never;
  },
};
