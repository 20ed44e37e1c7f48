import type { Scenario } from '../harness/vocabulary/workload.js';
import { granted, hasNoticed, havingKey } from './acts/asking.js';

export const redlockNodeFailsOver: Scenario = {
  name: 'redlock-node-fails-over',
  claim: 'each node of a Redlock may be a primary with a replica, so that no node is ever lost',
  truth:
    'where two of three granted, one that is replaced by a replica without the lock gives its vote to another client, who has a majority, too',
  topology: 'redlock-sentinel',
  lock: 'redlock',
  settings: { nodes: 3, persistence: 'aof-always', keys: 1, leaseMs: 20_000 },
  needs: ['network'],
  expect: [{ class: 'exclusion', kind: 'overlap', cause: 'failover-lost-write' }],
  async play(stage) {
    const [holder, other] = [stage.client(1), stage.client(2)];
    const { nodes } = stage.topology;
    const [, , primary, replica, ...away] = nodes;

    // The lock stands on exactly two of three.
    const absence = await stage.strike('kill', { names: away.map(({ name }) => name) });
    await hasNoticed(stage, holder);
    const lag = await stage.strike('lag', { names: [replica!.name] });
    const held = await granted(stage, holder, 'lock:0');
    await absence.heal();
    const having = await havingKey(nodes, 'lock:0');
    stage.check('two of three nodes have it', having.includes(primary!.name) && having.length <= 3);
    stage.check('the replica of one of them does not', !having.includes(replica!.name));

    const death = await stage.strike('kill', { names: [primary!.name] });
    await stage.until(`${replica!.name} takes the place of ${primary!.name}`, async () => {
      const shards = await stage.topology.shards();
      return shards.some((shard) => shard.primary === replica);
    });
    const second = await granted(stage, other, 'lock:0');
    await other.release(second);
    await lag.heal();
    await death.heal();
    await holder.release(held);
  },
};
