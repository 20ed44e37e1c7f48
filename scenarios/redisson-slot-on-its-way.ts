import type { Scenario } from '../harness/vocabulary/workload.js';
import { primaryFor, scriptsRun } from './acts/asking.js';

const KEY = 'lock:0';
/** Of one acquire, which needs one or two. */
const MANY_TRIES = 100;

export const redissonSlotOnItsWay: Scenario = {
  name: 'redisson-slot-on-its-way',
  claim: 'a client that asks for an RLock while its slot moves to another shard is sent on (ASK) and answered',
  truth:
    'it asks both shards in turn without a pause, hundreds of times a second, and has no answer while the slot moves',
  topology: 'cluster',
  lock: 'redisson/rlock',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [first, other] = [stage.client(1), stage.client(2)];
    const { nodes } = stage.topology;
    const old = await primaryFor(stage, KEY);
    const held = await first.acquire(KEY);
    stage.check('it is granted', held.type === 'ok');
    await first.release(held);
    const move = await stage.strike('move-slot', { names: [old.name] }, { until: 'keys' });
    const tries = () => Promise.all(nodes.map(scriptsRun));
    const before = await tries();
    const answer = await other.acquire(KEY);
    const after = await tries();
    stage.check('nobody knows what came of it', answer.type === 'info');
    stage.check(
      'one shard was asked again and again',
      after.some((count, nth) => count - before[nth]! > MANY_TRIES),
    );
    await move.heal();
  },
};
