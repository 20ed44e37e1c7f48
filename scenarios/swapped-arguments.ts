import type { Scenario } from '../harness/vocabulary/workload.js';

export const swappedArguments: Scenario = {
  name: 'swapped-arguments',
  claim: 'a script is atomic, so a lock that is made of scripts is right',
  truth:
    'an unlock that checks one argument and counts down another never unlocks, says that it did, and is renewed for ever',
  topology: 'single',
  lock: 'broken/swapped-arguments',
  settings: { leaseMs: 1_500 },
  expect: [{ class: 'liveness', kind: 'deadlock' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    // Not lock:0: that one is tried again at the end by the first client, who may lock it as often as it likes.
    const held = await holder.acquire('lock:1');
    stage.check('the unlock says that it worked', (await holder.release(held)).type === 'ok');
    const refused = await other.acquire('lock:1', { waitMs: 2 * stage.leaseMs });
    stage.check('another client is refused two leases later', refused.type === 'fail');
  },
};
