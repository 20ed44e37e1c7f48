/** An operator lets the servers move the slot of a lock to another shard, all of it at once. */
import type { NemesisFault } from '../striking/context.js';
import { SlotMove, slotToMove, unfitWithoutSlots } from '../striking/slots.js';
import { strikeAlone } from '../striking/succession.js';

export const migrateSlots: NemesisFault = {
  name: 'migrate-slots',
  summary: 'the slot of a lock moves to another shard at once (CLUSTER MIGRATESLOTS, Valkey 9)',
  explained: {
    does: "Once the servers are whole, the slot of one of the run's keys that the target serves, rather of one that has been held for a while, is given to another primary by `CLUSTER MIGRATESLOTS`: the servers copy it and what is written meanwhile, stop its writes for a moment, and change its owner. `all` has it where the server knows the command.",
    proof:
      'The `CLUSTER NODES` of both sides and of everybody else name the new owner; who does not answer, for another fault, is named. An OK proves nothing.',
    breaks:
      'By itself nothing: a lock that is held goes along, with its time to live, and no client is sent to and fro (`ASK`). Clients are redirected (`MOVED`).',
  },
  effects: ['slot-moves'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['redis', 'slots-at-once'],
  args: {},
  unfit: unfitWithoutSlots,
  shape: () => ({ lane: 'servers', forMs: { min: 500, max: 2_500 }, leastMs: 300, settleMs: 1_000 }),
  strike: (step, context) =>
    strikeAlone(context, async (inForce) => {
      const move = new SlotMove(await slotToMove(step, context), context);
      await move.mustBePossibleAtOnce();
      const { slot, key, source, target } = move.what;
      const sinceNs = context.clock.nowNs();
      const effects = [
        { kind: 'slot-moves' as const, who: [source.name, target.name], slot, atOnce: true as const, sinceNs },
      ];
      await inForce.add({
        effects,
        heal: () => move.settleAtOnce(),
      });
      const proof = await move.atOnce();
      return {
        sinceNs,
        record: {
          targets: [source.name, target.name],
          did: `moved slot ${slot} (${key}) from ${source.name} to ${target.name} at once`,
          proof,
          effects,
        },
        heal: () => inForce.heal(),
      };
    }),
};
