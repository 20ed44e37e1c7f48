import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey, isWatched } from './acts/asking.js';

/** It tries for some ten seconds at a node that is away. */
const WAIT_MS = 20_000;
/** At a node where another has its part it waits for so long, and then goes on to the next. */
const WAIT_FOR_EACH_MS = WAIT_MS / 3;

export const redissonRedlockNodeForgets: Scenario = {
  name: 'redisson-redlock-node-forgets',
  claim: 'RedissonRedLock stays held as long as a majority of its nodes lives',
  truth: 'one node of the bare majority that granted comes back empty, and makes a majority that never heard of it',
  topology: 'redlock',
  lock: 'redisson/redlock',
  settings: { nodes: 3, persistence: 'aof-always', keys: 1, leaseMs: 60_000 },
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'node-forgot' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const [away, , forgets] = stage.topology.nodes;
    const absence = await stage.strike('kill', { names: [away!.name] });
    const held = await holder.acquire('lock:0', { waitMs: WAIT_MS });
    stage.check('two of three are a majority', held.type === 'ok');
    await absence.heal();
    stage.check('the lock stands on exactly two', (await havingKey(stage.topology.nodes, 'lock:0')).length === 2);
    const amnesia = await stage.strike('amnesia', { names: [forgets!.name] });
    await amnesia.heal();
    for (const node of [away!, forgets!]) await isWatched(stage, node);
    const sinceMs = stage.nowMs();
    const second = await other.acquire('lock:0', { waitMs: WAIT_MS });
    stage.check('another majority grants it once more', second.type === 'ok');
    const tookMs = stage.nowMs() - sinceMs;
    stage.check(
      `the node that has it is waited for, for a third of the wait (${Math.round(tookMs)} ms)`,
      tookMs >= WAIT_FOR_EACH_MS && tookMs < 2 * WAIT_FOR_EACH_MS,
    );
    await other.release(second);
    await holder.release(held);
  },
};
