import type { Scenario } from '../harness/vocabulary/workload.js';

export const takenTwiceWaitsForItself: Scenario = {
  name: 'taken-twice-waits-for-itself',
  claim: 'a client that has the lock may take it again in a function that it calls',
  truth:
    'not where the lock is not reentrant: its own key refuses it, and it waits for itself as long as it would for another',
  topology: 'single',
  lock: 'set-nx-px',
  settings: { leaseMs: 10_000, keys: 1 },
  expect: [],
  async play(stage) {
    const client = stage.client(1);
    const outer = await client.acquire('lock:0');
    stage.check('it is granted', outer.type === 'ok');
    const beganMs = stage.nowMs();
    const inner = await client.acquire('lock:0', { waitMs: 500 });
    stage.check('its own key refuses it', inner.type === 'fail');
    stage.check('it has waited for itself', stage.nowMs() - beganMs >= 450);
    stage.check('what it has is its own still', (await client.release(outer)).type === 'ok');
    const next = await client.acquire('lock:0');
    stage.check('then it is granted again', next.type === 'ok');
    await client.release(next);
  },
};
