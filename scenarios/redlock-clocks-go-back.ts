import type { Scenario } from '../harness/vocabulary/workload.js';

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
    const minority = { names: stage.topology.nodes.slice(0, 2).map(({ name }) => name) };
    const back = await stage.strike('clock', minority, { offsetMs: -8 * stage.leaseMs });
    const death = await stage.strike('kill', { names: [holder.name] });

    const next = await other.acquire('lock:0', { waitMs: 4 * stage.leaseMs });
    stage.check('another client has it long before these clocks say so', next.type === 'ok');
    await other.release(next);
    await back.heal();
    await death.heal();
  },
};
