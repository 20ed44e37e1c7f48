import type { Scenario } from '../harness/vocabulary/workload.js';

export const plainDelFreesAnothersLock: Scenario = {
  name: 'plain-del-frees-anothers-lock',
  claim: 'the client that locked deletes the key, so it is its own key that it deletes',
  truth: 'not when the lease was over: it deletes the lock of the next one, and a third one gets in',
  topology: 'single',
  lock: 'set-nx-px-del',
  settings: { leaseMs: 800, keys: 1 },
  expect: [
    { class: 'exclusion', kind: 'overlap', cause: 'released-by-other' },
    { class: 'stale', kind: 'overlap', cause: 'client-slow' },
  ],
  async play(stage) {
    const [slow, second, third] = [stage.client(1), stage.client(2), stage.client(3)];
    const first = await slow.acquire('lock:0');
    const held = await second.acquire('lock:0', { leaseMs: 8_000, waitMs: 5_000 });
    stage.check('the next client is granted the lock when the lease is over', held.type === 'ok');
    await stage.sleep(100); // work of both, side by side
    await slow.release(first);

    const beside = await third.acquire('lock:0', { waitMs: 2_000 });
    stage.check('a third one is granted it beside the second', beside.type === 'ok');
    await third.release(beside);
    await second.release(held);
  },
};
