import type { Scenario } from '../harness/vocabulary/workload.js';
import { hasNoticed, leaseOver } from './acts/asking.js';
import { DURABLE, grantOnThreeOfFive } from './acts/bare-majority.js';

export const redlockNodeStaysAway: Scenario = {
  name: 'redlock-node-stays-away',
  claim: 'a Redlock node that lost its data breaks the lock',
  truth: 'not if it stays away until every lease that it may have granted is over, as the algorithm asks',
  topology: 'redlock',
  lock: 'redlock',
  settings: { ...DURABLE, leaseMs: 5_000 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const { held, granted } = await grantOnThreeOfFive(stage);
    const amnesia = await stage.strike('amnesia', { names: [granted[2]!.name] });
    await hasNoticed(stage, other);
    stage.check('no other client is granted the lock meanwhile', (await other.acquire('lock:0')).type === 'fail');
    await holder.abandon(held);
    await stage.until('the lease is over where it stands', async () => {
      const left = await Promise.all(granted.slice(0, 2).map((node) => node.command('EXISTS', 'lock:0')));
      return left.every((count) => Number(count) === 0);
    });
    await amnesia.heal();
    await leaseOver(stage, 'lock:0');
    const next = await other.acquire('lock:0', { waitMs: 5_000 });
    stage.check('then it is granted again', next.type === 'ok');
    await other.release(next);
  },
};
