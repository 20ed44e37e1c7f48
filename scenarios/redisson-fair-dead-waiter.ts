import type { Scenario } from '../harness/vocabulary/workload.js';

/** Where a fair lock of Redisson keeps who waits, in their order. */
const QUEUE = 'redisson_lock_queue:{lock:0}';

export const redissonFairDeadWaiter: Scenario = {
  name: 'redisson-fair-dead-waiter',
  claim: 'who dies in the queue of a fair lock is passed over when the lock is free',
  truth:
    'its place is kept for fairLockWaitTimeout, five minutes by default: until then nobody is granted the lock, though it is free',
  topology: 'single',
  lock: 'redisson/fair',
  settings: { leaseMs: 6_000, keys: 1 },
  expect: [{ class: 'liveness', kind: 'deadlock' }],
  async play(stage) {
    const [holder, dies, next] = [stage.client(1), stage.client(2), stage.client(3)];
    const queued = (count: number) =>
      stage.until(`${count} wait`, async () => Number(await stage.topology.nodes[0]!.command('LLEN', QUEUE)) === count);
    const held = await holder.acquire('lock:0', { leaseMs: 30_000 });
    stage.check('it is granted', held.type === 'ok');
    const first = dies.acquire('lock:0', { waitMs: 30_000 });
    await queued(1);
    const second = next.acquire('lock:0', { waitMs: 15_000 });
    await queued(2);
    const death = await stage.strike('kill', { names: [dies.name] });
    await first;
    stage.check('the holder gives it back', (await holder.release(held)).type === 'ok');
    stage.check('and nobody has it', (await second).type === 'fail');
    await death.heal();
  },
};
