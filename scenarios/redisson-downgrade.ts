import type { Scenario } from '../harness/vocabulary/workload.js';

const KEY = 'lock:0';

export const redissonDowngrade: Scenario = {
  name: 'redisson-downgrade',
  claim: 'a writer that reads as well and stops writing lets a writer in',
  truth: 'it goes on reading: other readers are let in then, and no writer until the last of them has stopped',
  topology: 'single',
  lock: 'redisson/read-write',
  settings: { leaseMs: 20_000, keys: 1, clients: 3 },
  expect: [],
  async play(stage) {
    const [writer, reader, other] = [stage.client(1), stage.client(2), stage.client(3)];
    const writes = await writer.acquire(KEY, { mode: 'write' });
    const reads = await writer.acquire(KEY, { mode: 'read' });
    stage.check('a writer reads as well', writes.type === 'ok' && reads.type === 'ok');
    stage.check('nobody else reads', (await reader.acquire(KEY, { mode: 'read' })).type === 'fail');
    stage.check('it stops writing', (await writer.release(writes)).type === 'ok');
    stage.check('nobody writes', (await other.acquire(KEY, { mode: 'write' })).type === 'fail');
    const shared = await reader.acquire(KEY, { mode: 'read' });
    stage.check('another one reads beside it', shared.type === 'ok');
    stage.check('it stops reading', (await writer.release(reads)).type === 'ok');
    stage.check('nobody writes beside the other reader', (await other.acquire(KEY, { mode: 'write' })).type === 'fail');
    await reader.release(shared);
    const next = await other.acquire(KEY, { mode: 'write' });
    stage.check('then somebody writes', next.type === 'ok');
    await other.release(next);
  },
};
