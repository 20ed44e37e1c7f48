/** A planned failover within a Cluster: a replica asks its primary to hand over. */
import type { NemesisFault } from '../striking/context.js';
import { failOverPlanned, mustKnow, request, unfitUnless } from '../striking/planned.js';
import { running } from '../striking/succession.js';

export const clusterFailover: NemesisFault = {
  name: 'cluster-failover',
  summary: 'a planned failover in a Cluster: a replica takes over from its primary once it has everything',
  explained: {
    does: 'Once the servers are whole, a running replica is told `CLUSTER FAILOVER`: its primary stops taking writes, the replica waits until it has them all, is elected, and takes the slots over.',
    proof:
      'The Cluster must name the replica as primary, whose own `ROLE` agrees; that of the old primary must become `slave`. An OK proves nothing.',
    breaks: 'Nothing: every acknowledged write is kept, so a lock that is held stays held. Clients are redirected.',
  },
  effects: ['replaced'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['redis'],
  args: {},
  unfit: unfitUnless('replica'),
  shape: () => ({ lane: 'servers', forMs: { min: 1_500, max: 2_500 }, leastMs: 500, settleMs: 1_500 }),
  strike: (step, context) =>
    failOverPlanned(
      async (shard) => {
        const heir = context.random.pick(running(shard, context));
        await mustKnow(heir, 'cluster|failover');
        await request(heir, 'CLUSTER', 'FAILOVER');
        return { did: `CLUSTER FAILOVER by ${heir.name}`, heir };
      },
      step,
      context,
    ),
};
