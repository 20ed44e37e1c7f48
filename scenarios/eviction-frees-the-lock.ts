import type { Scenario } from '../harness/vocabulary/workload.js';

export const evictionFreesTheLock: Scenario = {
  name: 'eviction-frees-the-lock',
  claim: 'a key stays until it is deleted or its time is over',
  truth:
    'a server with a maxmemory-policy that is full of other data throws the lock away, and the next client has it at once',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 6_000, keys: 1, maxmemoryPolicy: 'volatile-ttl' },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'evicted' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    // It strikes once the server itself says that it has evicted the lock.
    const pressure = await stage.strike('evict', 'primary');
    const second = await other.acquire('lock:0');
    stage.check('the next client is granted the lock', second.type === 'ok');
    await other.release(second);
    await pressure.heal();
    await holder.release(first);
  },
};
