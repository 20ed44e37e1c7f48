import type { Scenario } from '../harness/vocabulary/workload.js';
import { leaseOver } from './acts/asking.js';

const KEY = 'lock:0';

export const redissonNestedWriteAddsUp: Scenario = {
  name: 'redisson-nested-write-adds-up',
  claim: 'a writer that dies keeps others out of its read-write lock for one lease',
  truth: 'a nested write adds its lease to what was left: who took it twice and dies keeps everybody out for the sum',
  topology: 'single',
  lock: 'redisson/read-write',
  settings: { leaseMs: 5_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [writer, other] = [stage.client(1), stage.client(2)];
    const [node] = stage.topology.nodes;
    const leftMs = async () => Number(await node!.command('PTTL', KEY));
    const outer = await writer.acquire(KEY, { mode: 'write' });
    const beganMs = stage.nowMs();
    // To the record it holds but once; Redisson has not been told.
    await writer.abandon(outer);
    const inner = await writer.acquire(KEY, { mode: 'write' });
    stage.check('it writes twice', outer.type === 'ok' && inner.type === 'ok');
    const sumMs = (await leftMs()) + stage.nowMs() - beganMs;
    stage.check('the lock lasts for more than a lease and a half', sumMs > 1.5 * stage.leaseMs);
    await stage.strike('kill', { names: [writer.name] });
    await stage.until('a lease is over', () => stage.nowMs() - beganMs > 1.1 * stage.leaseMs);
    for (const mode of ['read', 'write'] as const)
      stage.check(`nobody may ${mode} by then`, (await other.acquire(KEY, { mode })).type === 'fail');
    await leaseOver(stage, KEY);
    const next = await other.acquire(KEY, { mode: 'write' });
    stage.check('then another one writes', next.type === 'ok');
    await other.release(next);
  },
};
