/** Kills a node, wipes its disk and starts it empty when the fault is healed. Refused for more than a minority at once. */

import { Refusal } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { NemesisFault } from '../striking/context.js';
import { isNode, namesOf, resolveTarget } from '../striking/targets.js';
import { killDown } from './take-down.js';

export const amnesia: NemesisFault = {
  name: 'amnesia',
  summary: 'SIGKILL and wipe the disk; the node starts again without its data',
  explained: {
    does: 'SIGKILL to data nodes, and everything on their disks removed; started again, empty, when healed. Refused where more than a minority would have forgotten within one lease.',
    proof: 'Each process is read back as dead and the disk is wiped only then; the restart is proved by its PONG.',
    breaks:
      'Every lock on a single server: exclusion (`node-forgot`). Redlock survives one forgetful node except where exactly a bare majority had granted: `forget-granted` finds that.',
  },
  effects: ['killed', 'forgot'],
  targets: ['one', 'primary', 'replica', 'minority'],
  strikes: ['node'],
  needs: ['process', 'redis'],
  args: {},
  unfit: () => undefined,
  shape: () => ({ lane: 'servers', forMs: { min: 1_000, max: 3_000 }, leastMs: 300, settleMs: 1_500 }),
  async strike(step, context) {
    const struck = (await resolveTarget(step, context)).filter(isNode);
    const data = struck.filter(({ node }) => node.kind === 'redis');
    if (data.length === 0) throw new Refusal('only data nodes can forget');
    return InForce.strike(async (inForce) => {
      const down = await inForce.add(killDown(data, true, context));
      await Promise.all(data.map(({ node }) => node.forget()));
      return {
        record: {
          targets: namesOf(data),
          did: `SIGKILL to ${namesOf(data).join(', ')}, data removed`,
          proof: `${down.proof}; nothing is left on its disk`,
          effects: [...down.effects],
        },
        heal: () => inForce.heal(),
      };
    });
  },
};
