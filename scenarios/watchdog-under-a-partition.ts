import type { Scenario } from '../harness/vocabulary/workload.js';

export const watchdogUnderAPartition: Scenario = {
  name: 'watchdog-under-a-partition',
  claim: 'a watchdog keeps the lock in your hand for as long as you work',
  truth:
    'not when it cannot reach the server: the next client has the lock, and a good watchdog says in time that it is lost',
  topology: 'single',
  lock: 'watchdog',
  settings: { leaseMs: 1_500, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const first = await holder.acquire('lock:0');
    const cut = await stage.strike('partition', { names: [holder.name] });
    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    const lost = await stage.event('the holder learns that it is lost', ({ type }) => type === 'lost');
    const inTime = lost.type === 'lost' && first.endedNs! < lost.clientNs;
    stage.check('it learned of it while it worked', inTime && lost.hold === first.id);
    await other.release(second);
    await cut.heal();
  },
};
