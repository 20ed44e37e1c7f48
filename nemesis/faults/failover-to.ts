/** A planned failover by the primary itself: `FAILOVER TO`, which waits until the replica has everything. */
import type { NemesisFault } from '../striking/context.js';
import { failOverPlanned, mustKnow, request, unfitUnless } from '../striking/planned.js';
import { running } from '../striking/succession.js';

/** The primary gives up, and goes on as one, if the replica has not caught up by then. */
const CATCH_UP_MS = 2_000;

export const failoverTo: NemesisFault = {
  name: 'failover-to',
  summary: 'a planned failover: the primary hands over to a replica that has everything (FAILOVER TO)',
  explained: {
    does: 'Once the servers are whole, the primary is told `FAILOVER TO` a running replica: it stops taking writes, waits until the replica has them all, and changes roles with it. The failover manager follows suit and moves the virtual address.',
    proof:
      'The deployment must name the replica, whose own `ROLE` agrees; that of the old primary must become `slave`. An OK proves nothing.',
    breaks:
      'Nothing: every acknowledged write is kept, so a lock that is held stays held. Clients see errors for a moment.',
  },
  effects: ['replaced'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['redis'],
  args: {},
  unfit: unfitUnless('primary'),
  shape: () => ({ lane: 'servers', forMs: { min: 1_000, max: 2_000 }, leastMs: 500, settleMs: 1_500 }),
  strike: (step, context) =>
    failOverPlanned(
      async (shard) => {
        const { primary } = shard;
        const heir = context.random.pick(running(shard, context));
        await mustKnow(primary, 'failover');
        await request(primary, 'FAILOVER', 'TO', heir.host.address, heir.port, 'TIMEOUT', CATCH_UP_MS);
        return { did: `FAILOVER TO ${heir.name}`, heir };
      },
      step,
      context,
    ),
};
