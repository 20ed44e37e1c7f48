import type { Scenario } from '../harness/vocabulary/workload.js';

export const silentUnlock: Scenario = {
  name: 'silent-unlock',
  claim: 'to unlock what has expired is harmless',
  truth: 'to the lock it is; but an unlock that says nothing hides from its client that somebody else worked beside it',
  topology: 'single',
  lock: 'broken/silent-unlock',
  settings: { leaseMs: 800, keys: 1 },
  expect: [
    { class: 'stale', kind: 'silent-release', cause: 'client-slow' },
    { class: 'stale', kind: 'overlap', cause: 'client-slow' },
  ],
  async play(stage) {
    const [slow, other] = [stage.client(1), stage.client(2)];
    const first = await slow.acquire('lock:0');
    const second = await other.acquire('lock:0', { leaseMs: 8_000, waitMs: 5_000 });
    stage.check('the next client is granted the lock', second.type === 'ok');
    await stage.sleep(100); // work of both, side by side
    stage.check("the slow one's unlock answers that it worked", (await slow.release(first)).type === 'ok');
    stage.check("the lock is still the next one's", (await other.release(second)).type === 'ok');
  },
};
