/** An operator moves the slot of a lock to another shard, in the four steps that it takes. */
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { NemesisFault } from '../striking/context.js';
import { SlotMove, STEPS, slotToMove, unfitWithoutSlots } from '../striking/slots.js';
import { strikeAlone } from '../striking/succession.js';
import { mustBeOneOf } from './args.js';

export const moveSlot: NemesisFault = {
  name: 'move-slot',
  summary: 'the slot of a lock moves to another shard (SETSLOT IMPORTING, MIGRATING, MIGRATE, SETSLOT NODE)',
  explained: {
    does: "Once the servers are whole, the slot of one of the run's keys that the target serves, rather of one that has been held for a while, is given to another primary, in four steps: `importing` (`SETSLOT IMPORTING` on the one that is to have it), `migrating` (`SETSLOT MIGRATING` on its owner, which from then on sends clients with `ASK` to the other for keys that it does not have), `keys` (`MIGRATE`), `node` (`SETSLOT NODE` on both, the new owner first). `until` ends it after one of them; healed, a slot that is given away is moved to the end, as `redis-cli --cluster fix` does, for it may have keys at its new owner already (by their successors, where a failover has replaced one of the two); one that is only awaited is not any more. While one is on its way the servers are not whole: other planned changes are refused.",
    proof:
      'Each step is read back: the slot on its way in `CLUSTER NODES` of that node, no key of it left, and in the end the `CLUSTER NODES` of both sides and of everybody else name the new owner; who does not answer, for another fault, is named. An OK proves nothing.',
    breaks:
      'By itself nothing: a lock that is held goes along, with its time to live. Clients are redirected (`ASK`, `MOVED`), and commands on several keys refused for a moment (`TRYAGAIN`). A client that sends `ASKING` without having been told so takes a lock a second time at the new owner, and then the slot cannot be moved (`BUSYKEY`). And a failover of the owner meanwhile: its replica knows nothing of the move, and grants what was given away already.',
  },
  effects: ['slot-moves'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['redis'],
  args: {
    until: { means: 'the last step: importing, migrating, keys, node; node if not given', check: mustBeOneOf(STEPS) },
  },
  unfit: unfitWithoutSlots,
  shape: () => ({
    lane: 'servers',
    forMs: { min: 500, max: 2_500 },
    leastMs: 300,
    settleMs: 1_000,
    args: { until: ['node', 'migrating', 'node', 'keys', 'importing'] },
  }),
  strike: (step, context) =>
    strikeAlone(context, async (inForce) => {
      const move = new SlotMove(await slotToMove(step, context), context);
      await move.mustBePossible();
      const { slot, key, source, target } = move.what;
      const last = STEPS.find((known) => known === step.args?.until) ?? 'node';
      const sinceNs = context.clock.nowNs();
      const effects: FaultEffect[] = [{ kind: 'slot-moves', who: [source.name, target.name], slot, sinceNs }];
      await inForce.add({
        effects: [{ kind: 'slot-moves', who: [source.name, target.name], slot, sinceNs }],
        heal: () => move.settle(),
      });
      const proof = await move.carryOut(last);
      const did =
        last === 'node'
          ? `moved slot ${slot} (${key}) from ${source.name} to ${target.name}`
          : `began to move slot ${slot} (${key}) from ${source.name} to ${target.name}, as far as "${last}"`;
      return {
        sinceNs,
        record: { targets: [source.name, target.name], did, proof, effects },
        heal: () => inForce.heal(),
      };
    }),
};
