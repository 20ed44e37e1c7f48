import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey, isWatched } from './acts/asking.js';

const KEY = 'lock:0';
const WAIT_MS = 1_500;

export const redissonMultiNodeForgets: Scenario = {
  name: 'redisson-multi-node-forgets',
  claim: 'one node that forgets, or is away, does to a MultiLock over several nodes what it does to a RedLock',
  truth:
    'it is granted by all nodes or to nobody: one that forgets lets nobody in, and while one is away nobody is granted it',
  topology: 'redlock',
  lock: 'redisson/multi',
  settings: { nodes: 3, persistence: 'aof-always', keys: 1, leaseMs: 60_000 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const { nodes } = stage.topology;
    const [forgets, , away] = nodes;
    const held = await holder.acquire(KEY, { waitMs: 500 });
    stage.check('all three grant it', held.type === 'ok' && (await havingKey(nodes, KEY)).length === 3);
    const amnesia = await stage.strike('amnesia', { names: [forgets!.name] });
    await amnesia.heal();
    await isWatched(stage, forgets!);
    const sinceMs = stage.nowMs();
    const refused = await other.acquire(KEY, { waitMs: WAIT_MS });
    stage.check('the two others refuse another client', refused.type === 'fail');
    // A RedLock would wait at each for its part of that.
    stage.check('the first that refuses is waited for to the end of the wait', stage.nowMs() - sinceMs >= WAIT_MS);
    const left = await havingKey(nodes, KEY);
    stage.check('what it got of the first it gave back', !left.includes(forgets!.name) && left.length === 2);
    // By then that is not its own any more, and says so.
    await holder.release(held);

    const absence = await stage.strike('kill', { names: [away!.name] });
    const none = await other.acquire('another lock', { waitMs: 500 });
    stage.check('while one is away nobody is granted it', none.type !== 'ok');
    await absence.heal();
  },
};
