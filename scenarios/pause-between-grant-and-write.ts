import type { Scenario } from '../harness/vocabulary/workload.js';

export const pauseBetweenGrantAndWrite: Scenario = {
  name: 'pause-between-grant-and-write',
  claim: 'a random value and a release by script are close to perfect on one healthy server',
  truth:
    'a holder that is stopped for longer than its lease wakes up beside the next one, and the resource takes its write',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 1_500, resource: 'trusting' },
  expect: [
    { class: 'stale', kind: 'overlap', cause: 'client-paused' },
    { class: 'harm', kind: 'stale-write', cause: 'client-paused' },
  ],
  async play(stage) {
    const [sleeper, other] = [stage.client(1), stage.client(2)];
    const first = await sleeper.acquire('lock:0');
    const pause = await stage.strike('pause', { names: [sleeper.name] });
    // Said to a process that does not run: it writes when it wakes.
    const late = sleeper.write(first, 1);

    const second = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    await other.write(second, 2);
    await stage.sleep(100); // its work, in which the sleeper wakes up
    await pause.heal();

    stage.check('the resource takes the late write', (await late).type === 'ok');
    await sleeper.release(first);
    await other.release(second);
  },
};
