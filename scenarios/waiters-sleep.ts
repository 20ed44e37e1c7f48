import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey, isListening } from './acts/asking.js';

/** How often a lock that polls every 10 to 30 ms would have asked meanwhile, at the very least. */
const POLLED = 30;

export const waitersSleep: Scenario = {
  name: 'waiters-sleep',
  claim: 'clients that wait for a lock spin',
  truth: 'they sleep until the unlock is published, and at most until the lease of the holder would end',
  topology: 'single',
  lock: 'reentrant',
  settings: { leaseMs: 2_400, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, waiter] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    const held = await holder.acquire('lock:0');
    const waiting = waiter.acquire('lock:0', { waitMs: 10_000 });
    await isListening(stage, 'lock:0');
    await server.command('CONFIG', 'RESETSTAT');
    // Three renewals make one lease.
    let renewals = 0;
    await stage.event('three renewals', ({ type }) => type === 'renewed' && ++renewals === 3);
    const asked = /cmdstat_eval:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')));
    stage.check('hardly anybody asked meanwhile', Number(asked?.[1]) < POLLED);

    await holder.release(held);
    const next = await waiting;
    stage.check('the unlock wakes the waiter', next.type === 'ok');
    await waiter.release(next);
    stage.check('nothing is left behind', (await havingKey([server], 'lock:0')).length === 0);
  },
};
