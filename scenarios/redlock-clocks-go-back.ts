import type { Scenario } from '../harness/vocabulary/workload.js';
import { havingKey } from './acts/asking.js';

export const redlockClocksGoBack: Scenario = {
  name: 'redlock-clocks-go-back',
  claim: "clocks that are set back keep a dead holder's lock for longer (Redlock)",
  truth: 'not those of a minority: the other nodes end the lease in time, and they are enough for the next one',
  topology: 'redlock',
  lock: 'redlock',
  settings: { leaseMs: 1_500, keys: 1, persistence: 'aof-always' },
  expect: [],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const held = await holder.acquire('lock:0', { waitMs: 1_000 });
    stage.check('it is granted', held.type === 'ok');
    const [minority, others] = [stage.topology.nodes.slice(0, 2), stage.topology.nodes.slice(2)];
    const names = minority.map(({ name }) => name);
    const back = await stage.strike('clock', { names }, { offsetMs: -8 * stage.leaseMs });
    const death = await stage.strike('kill', { names: [holder.name] });

    // Some libraries ask a few times and give up, whatever they are told to wait: they are asked when the lease is over.
    await stage.until(
      'the other nodes have ended the lease',
      async () => (await havingKey(others, 'lock:0')).length === 0,
    );
    stage.check('a node whose clock is behind still has it', (await havingKey(minority, 'lock:0')).length > 0);
    const next = await other.acquire('lock:0', { waitMs: 4 * stage.leaseMs });
    stage.check('another client has it before these clocks say so', next.type === 'ok');
    await other.release(next);
    await back.heal();
    await death.heal();
  },
};
