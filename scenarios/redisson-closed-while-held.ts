import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted } from './acts/asking.js';
import { renewals } from './acts/renewals.js';

export const redissonClosedWhileHeld: Scenario = {
  name: 'redisson-closed-while-held',
  claim: 'closing the Redisson instance gives back what it holds',
  truth: 'it ends the renewals and nothing else: others wait for the rest of lockWatchdogTimeout',
  topology: 'single',
  lock: 'redisson/shutdown',
  settings: { leaseMs: 3_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const [server] = stage.topology.nodes;
    const held = await granted(stage, holder, 'lock:0');
    await renewals(stage, 2);
    await holder.abandon(held);
    await holder.release(held);
    const closedMs = stage.nowMs();
    const leftMs = Number(await server!.command('PTTL', 'lock:0'));
    stage.check(`the lock stands for another ${leftMs} ms`, leftMs > 0);
    stage.check('another client is refused', (await other.acquire('lock:0')).type === 'fail');
    stage.check('its process lives', (await holder.acquire('another lock')).type === 'ok');
    const next = await other.acquire('lock:0', { waitMs: 2 * stage.leaseMs });
    stage.check('nothing was renewed: another client has it', next.type === 'ok');
    const afterMs = stage.nowMs() - closedMs;
    stage.check(`that was ${Math.round(afterMs)} ms later, within one time-out`, afterMs < stage.leaseMs + 1_000);
    await other.release(next);
  },
};
