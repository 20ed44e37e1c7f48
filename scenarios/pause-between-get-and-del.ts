import type { Scenario } from '../harness/vocabulary/workload.js';
import { leaseOver } from './acts/asking.js';

export const pauseBetweenGetAndDel: Scenario = {
  name: 'pause-between-get-and-del',
  claim: 'to compare the owner before the DEL is enough',
  truth:
    'a client that is stopped between its GET and its DEL deletes the lock of the client that was granted it meanwhile',
  topology: 'single',
  lock: 'set-nx-px-get-del',
  settings: { leaseMs: 2_500, keys: 1 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'released-by-other' }],
  async play(stage) {
    const [stopped, second, third] = [stage.client(1), stage.client(2), stage.client(3)];
    const first = await stopped.acquire('lock:0');
    const { answer, resume } = await stopped.stopAt('before-del', (client) => client.release(first));
    await leaseOver(stage, 'lock:0');
    const held = await second.acquire('lock:0', { leaseMs: 8_000, waitMs: 2_000 });
    stage.check('the next client is granted the lock', held.type === 'ok');
    await resume();
    stage.check("the first one's release answers that it worked", (await answer).type === 'ok');

    const beside = await third.acquire('lock:0', { waitMs: 2_000 });
    stage.check('a third one is granted it beside the second', beside.type === 'ok');
    await third.release(beside);
    await second.release(held);
  },
};
