import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey, isWatched } from './acts/asking.js';

const KEY = 'lock:0';
/** Of each part of three, by the library's code. */
const ROUND_MS = 3 * 1_500;
/** What passes at the most between a look at a server and the next one, as far as the shortest round is concerned. */
const LOOKS_MS = 200;

export const redissonMultiLockInRounds: Scenario = {
  name: 'redisson-multi-lock-in-rounds',
  claim: 'who waits in MultiLock.lock() has no part meanwhile, and whoever unlocks it gives all parts back',
  truth:
    'a part that is free is kept for a round of n x 1,500 ms and then given back; and where one node forgot, unlock() leaves the other parts, which are renewed until their client dies',
  topology: 'redlock',
  lock: 'redisson/multi:lock',
  settings: { nodes: 3, persistence: 'aof-always', keys: 1, leaseMs: 4_000 },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const { nodes } = stage.topology;
    const [forgets, ...others] = nodes;
    const isOn = async () => (await havingKey([forgets!], KEY)).length === 1;
    const held = await holder.acquire(KEY);
    stage.check('all three grant it', held.type === 'ok' && (await havingKey(nodes, KEY)).length === 3);
    const amnesia = await stage.strike('amnesia', { names: [forgets!.name] });
    await amnesia.heal();
    await isWatched(stage, forgets!);

    const waits = other.acquire(KEY);
    await stage.until('the one that forgot grants its part to who waits', isOn);
    const sinceMs = stage.nowMs();
    await stage.until('that part is given back', async () => !(await isOn()));
    stage.check('no sooner than after a round', stage.nowMs() - sinceMs > ROUND_MS - LOOKS_MS);
    await stage.until('the next round takes it again', isOn);

    const released = await holder.release(held);
    stage.check('unlock() says that it is not the owner', released.type === 'fail');
    await stage.sleep(2 * stage.leaseMs);
    stage.check('the other parts are renewed all the same', (await havingKey(others, KEY)).length === others.length);
    await stage.strike('kill', { names: [holder.name] });
    const granted = await waits;
    stage.check('they are free when their client is dead', granted.type === 'ok');
    await other.release(granted);
  },
};
