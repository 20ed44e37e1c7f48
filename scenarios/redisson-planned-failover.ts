import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, primaryFor } from './acts/asking.js';

export const redissonPlannedFailover: Scenario = {
  name: 'redisson-planned-failover',
  claim: 'an RLock that its holder has is there after a failover that an operator plans',
  truth: 'the replica had acknowledged it before it was granted: the new primary has it, and refuses everybody else',
  topology: 'sentinel',
  lock: 'redisson/rlock',
  settings: { leaseMs: 60_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const old = await primaryFor(stage, 'lock:0');
    const held = await granted(stage, holder, 'lock:0');
    const failover = await stage.strike('sentinel-failover', { names: [old.name] });
    await stage.until('another client is refused', async () => {
      const answer = await other.acquire('lock:0');
      stage.check('nobody else is granted it', answer.type !== 'ok');
      return answer.type === 'fail' && answer.reason === 'held';
    });
    await failover.heal();
    await holder.release(held);
  },
};
