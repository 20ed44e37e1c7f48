import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { renewals } from './acts/renewals.js';

export const redissonFailedUnlock: Scenario = {
  name: 'redisson-failed-unlock',
  claim: 'only an unlock that succeeds stops the watchdog: after one that failed the lock is renewed for ever',
  truth: 'Redisson 4.7.0, 3.16.4 and 3.15.6 stop it with every unlock: after a failed one the lock ends with its lease',
  topology: 'single',
  lock: 'redisson/watchdog',
  settings: { leaseMs: 3_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const server = stage.topology.nodes[0]!;
    const held = await granted(stage, holder, 'lock:0');
    await renewals(stage, 1);
    // A server whose memory is full refuses what an unlock writes, and no renewal.
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    const unlocked = await holder.release(held);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    stage.check('the unlock failed', unlocked.type === 'fail');
    stage.check('the lock stands', Number(await server.command('EXISTS', 'lock:0')) === 1);
    const next = await other.acquire('lock:0', { waitMs: 2 * stage.leaseMs });
    stage.check('nothing renewed it: another client has it', next.type === 'ok');
    await other.release(next);
  },
};
