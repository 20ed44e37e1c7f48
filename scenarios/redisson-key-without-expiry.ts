import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, isListening } from './acts/asking.js';

const KEY = 'lock:0';

export const redissonKeyWithoutExpiry: Scenario = {
  name: 'redisson-key-without-expiry',
  claim: 'who waits for a lock asks again at the latest when its lease is over',
  truth: 'a key that has no expiry is waited for without end: only the message of an unlock wakes who waits',
  topology: 'single',
  lock: 'redisson/rlock:lock-lease',
  settings: { leaseMs: 1_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    const held = await granted(stage, holder, KEY);
    await holder.abandon(held);
    stage.check('its expiry is taken away', (await server.command('PERSIST', KEY)) === 1);
    let answered = false;
    const waiting = waiter.acquire(KEY).finally(() => {
      answered = true;
    });
    await isListening(stage, KEY);
    stage.check('the key is removed, which publishes nothing', (await server.command('DEL', KEY)) === 1);
    await stage.sleep(3 * stage.leaseMs);
    stage.check('nobody has asked again after three leases, though it is free', !answered);
    await server.command('PUBLISH', `redisson_lock__channel:{${KEY}}`, '0');
    const next = await waiting;
    stage.check('a message wakes who waits', next.type === 'ok');
    await waiter.release(next);
  },
};
