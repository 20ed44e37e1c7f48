/**
 * A wall clock that runs fast or slow by `ratePpm`; when healed it is right again, so all that it has gained is taken
 * back at once. What a fast clock makes expire early it does as long as it lasts; of a slow one it is the heal that does.
 *
 * What matters for a lock is the rate and not what was gained: a lease of 5 s that is granted while the node's clock runs
 * at double speed ends after 2.5 s, in the middle of a hold; at +30 % after 3.8 s, just after a careful client's longest
 * hold; at +5 % after 4.8 s, still five times what Redlock allows for drift (1 %). At half speed a key that is not
 * released stands for 10 s, and by the heal keys end early by what the clock had lost.
 */

import { Refusal } from '../levers/basics.js';
import { percent } from '../levers/clock.js';
import { InForce } from '../levers/in-force.js';
import type { NemesisFault } from '../striking/context.js';
import { namesOf, resolveTarget } from '../striking/targets.js';
import { clockRate } from './args.js';
import { countEarlyExpiry, wallClockOf } from './wall-clock.js';

export const drift: NemesisFault = {
  name: 'drift',
  summary: 'a wall clock runs fast or slow by ratePpm, and is right again when healed',
  explained: {
    does: 'The wall clock that a program sees gains (or loses) `ratePpm` parts per million: 1000000 is double speed, -500000 half. When healed it is set right, so all that it gained is taken back in one jump. CLOCK_MONOTONIC is left alone. Jumps and drifts of overlapping faults on one host add up.',
    proof:
      'The program is asked for the time twice, so far apart that the two readings tell the rate from none, however long each answer took; healed likewise.',
    breaks:
      "Leases are measured by the server's clock, so a server that runs at double speed ends them half-way through: exclusion (`clock-ran-fast`) for every lock that trusts that one server, as soon as holds last longer than the lease by the fast clock. Redlock survives a minority of fast nodes unless a lock was granted by a bare majority. A slow server only keeps orphaned keys for longer, until it is set right. A client's drift breaks locks that measure their validity by the wall clock; those that use the monotonic clock do not notice.",
  },
  effects: ['clock-drifts'],
  targets: ['one', 'primary', 'replica', 'minority', 'client', 'holder', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['clock'],
  args: {
    ratePpm: {
      required: true,
      means: 'what the clock gains; negative: loses. 1000000 is double speed',
      unit: 'ppm',
      check: clockRate,
    },
  },
  unfit: () => undefined,
  shape: (_topology, target, leaseMs) => ({
    lane: target === 'client' || target === 'holder' ? 'clients' : 'servers',
    // A lease that is granted in it must have time to end in it.
    forMs: { min: leaseMs, max: Math.round(1.5 * leaseMs) },
    leastMs: Math.max(500, Math.round(0.8 * leaseMs)),
    settleMs: 500,
    args: { ratePpm: [1_000_000, 300_000, -500_000, 50_000] },
  }),
  async strike(step, context) {
    const ratePpm = step.args?.ratePpm;
    if (typeof ratePpm !== 'number') throw new Refusal('ratePpm says what the clock gains; it is missing');
    const sinceNs = context.clock.nowNs();
    const struck = await resolveTarget(step, context);
    const loss = countEarlyExpiry(struck, context);
    try {
      return await InForce.strike(async (inForce) => {
        const grips = await inForce.addAll(
          struck.map((one) => context.levers.clock.drift(one.host, ratePpm, wallClockOf(one, context), context.signal)),
        );
        return {
          sinceNs,
          record: {
            targets: namesOf(struck),
            did: `clock of ${namesOf(struck).join(', ')} runs ${ratePpm > 0 ? 'fast' : 'slow'}, ${percent(ratePpm)}`,
            proof: grips.map((grip) => grip.proof).join('; '),
            effects: grips.flatMap(({ effects }) => effects),
          },
          heal: async () => {
            const said = await inForce.heal();
            loss.end();
            return said;
          },
        };
      });
    } catch (error) {
      // It may have run fast while it was looked at.
      loss.end();
      throw error;
    }
  },
};
