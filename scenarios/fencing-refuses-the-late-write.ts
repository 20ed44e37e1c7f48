import type { Scenario } from '../harness/vocabulary/workload.js';

export const fencingRefusesTheLateWrite: Scenario = {
  name: 'fencing-refuses-the-late-write',
  claim: 'after the grant every lock is helpless against a pause',
  truth: 'the lock is, and the holder is stale; but a resource that looks at fencing tokens refuses what it writes',
  topology: 'single',
  lock: 'fenced',
  settings: { leaseMs: 1_500, keys: 1, resource: 'checking' },
  expect: [{ class: 'stale', kind: 'overlap', cause: 'client-paused' }],
  async play(stage) {
    const [sleeper, other] = [stage.client(1), stage.client(2)];
    const first = await sleeper.acquire('lock:0');
    const pause = await stage.strike('pause', { names: [sleeper.name] });
    const late = sleeper.write(first, 1);

    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    stage.check('and a greater token', second.token! > first.token!);
    stage.check('the resource takes its write', (await other.write(second, 2)).type === 'ok');
    await stage.sleep(100); // its work, in which the sleeper wakes up
    await pause.heal();
    stage.check('the resource refuses the late write', (await late).type === 'fail');
    await sleeper.release(first);
    await other.release(second);
  },
};
