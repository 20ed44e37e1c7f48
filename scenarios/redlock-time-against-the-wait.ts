import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey, knownTo } from './acts/asking.js';

const KEY = 'lock:0';
/** What passes between one node and the next, which are asked in turn: half of it on the way, half on the way back. */
const ANSWER_MS = 300;

export const redlockTimeAgainstTheWait: Scenario = {
  name: 'redlock-time-against-the-wait',
  claim: 'a majority that came together within the wait is a lock',
  truth:
    'time is held against the wait and not against the lease: the first votes are over when the last one comes, and another client has a majority',
  topology: 'redlock',
  lock: 'redlock-multi',
  settings: { nodes: 3, leaseMs: 20_000, keys: 1 },
  needs: ['network'],
  expect: [{ class: 'stale', kind: 'overlap', cause: 'granted-late' }],
  async play(stage) {
    const [late, other] = [stage.client(1), stage.client(2)];
    const [, second, third] = stage.topology.nodes;
    const slow = await stage.strike('delay', { names: [late.name] }, { delayMs: ANSWER_MS / 2 });
    // The second vote outlives the asking of the third by a fifth of that.
    const answer = late.acquire(KEY, { leaseMs: 1.2 * ANSWER_MS, waitMs: 30_000 });
    await knownTo(stage, [third!], KEY);
    await stage.until('the second vote is over', async () => (await havingKey([second!], KEY)).length === 0);
    const others = await other.acquire(KEY);
    stage.check('another client has a majority', others.type === 'ok');
    const granted = await answer;
    stage.check('the votes of a lease that is over are a grant', granted.type === 'ok');
    await stage.sleep(100); // work of both, side by side
    await slow.heal();
    await late.release(granted);
    await other.release(others);
  },
};
