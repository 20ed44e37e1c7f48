import type { Scenario } from '../harness/vocabulary/workload.js';
import { hasNoticed } from './acts/asking.js';

export const redlockMajorityIsEnough: Scenario = {
  name: 'redlock-majority-is-enough',
  claim: 'Redlock works as long as most of its nodes do',
  truth: 'with two of five dead the lock is granted, refused to others and given back as before',
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 20_000, keys: 1 },
  expect: [],
  async play(stage) {
    const [first, second] = [stage.client(1), stage.client(2)];
    const crash = await stage.strike('kill', 'minority');
    await hasNoticed(stage, first);
    await hasNoticed(stage, second);
    const held = await first.acquire('lock:0', { waitMs: 5_000 });
    stage.check('three of five grant it', held.type === 'ok');
    stage.check('another client is refused', (await second.acquire('lock:0')).type === 'fail');
    stage.check('it is given back', (await first.release(held)).type === 'ok');
    const next = await second.acquire('lock:0', { waitMs: 5_000 });
    stage.check('the other one has it then', next.type === 'ok');
    await second.release(next);
    await crash.heal();
  },
};
