/**
 * A wall clock jumps by `offsetMs`, forward or back, and jumps back when the fault is healed. Keys on a node whose clock
 * jumps forward expire early: for independent nodes that is forgetting, and the minority rule applies.
 */

import { Refusal } from '../levers/basics.js';
import { signed } from '../levers/clock.js';
import { InForce } from '../levers/in-force.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { namesOf, resolveTarget, type Struck } from '../striking/targets.js';
import { clockOffset } from './args.js';
import { countEarlyExpiry, wallClockOf } from './wall-clock.js';

export const clock: NemesisFault = {
  name: 'clock',
  summary: 'a wall clock jumps forward or back by offsetMs, and back again when healed',
  explained: {
    does: 'The wall clock that a program sees jumps by `offsetMs` and jumps back when healed. CLOCK_MONOTONIC is left alone. Jumps of overlapping faults on one host add up.',
    proof:
      'The program itself is asked for the time (`INFO server_time_usec`; a lock client by the `clock` request) and must be off by what was set.',
    breaks:
      'Keys of a server that jumps forward expire early: exclusion (`clock-jumped`) for every lock that trusts that one server. Redlock survives a minority, see `skew-granted`.',
  },
  effects: ['clock-jumped'],
  targets: ['one', 'primary', 'replica', 'minority', 'client', 'holder', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['clock'],
  args: {
    offsetMs: { required: true, means: 'how far the clock jumps; negative: back', unit: 'ms', check: clockOffset },
  },
  unfit: () => undefined,
  shape(_topology, target, leaseMs) {
    const ofClients = target === 'client' || target === 'holder';
    // A client that looks at its clock takes a lease for over where that is ahead by more than the lease.
    const parts = ofClients ? [1.2, -1.2, 2] : [0.4, 1.2, 2, -0.4, -1.2];
    return {
      lane: ofClients ? 'clients' : 'servers',
      // Of a request of a client's first second nobody can say by which clock it was made.
      forMs: ofClients ? { min: 1_800, max: Math.max(2_500, leaseMs) } : { min: 1_000, max: Math.max(1_500, leaseMs) },
      leastMs: ofClients ? 1_500 : 500,
      settleMs: 500,
      args: { offsetMs: parts.map((part) => Math.round(part * leaseMs)) },
    };
  },
  async strike(step, context) {
    const offsetMs = step.args?.offsetMs;
    if (typeof offsetMs !== 'number') throw new Refusal('offsetMs says how far the clock jumps; it is missing');
    const struck = await resolveTarget(step, context);
    // A jump back is undone by a jump forward: then it is the heal that makes keys expire early.
    const loss = countEarlyExpiry(struck, context);
    try {
      return await InForce.strike(async (inForce) => {
        const grips = await inForce.addAll(struck.map((one) => jump(one, offsetMs, context)));
        if (offsetMs > 0) loss.end();
        return {
          record: {
            targets: namesOf(struck),
            did: `clock of ${namesOf(struck).join(', ')} set ${offsetMs > 0 ? 'forward' : 'back'} by ${Math.abs(offsetMs)} ms`,
            proof: grips.map((grip) => grip.proof).join('; '),
            effects: grips.flatMap(({ effects }) => effects),
          },
          heal: async () => {
            const said = await inForce.heal();
            if (offsetMs < 0) loss.end();
            return said;
          },
        };
      });
    } catch (error) {
      // What was not seen may have happened all the same, and one of several may have jumped.
      loss.end();
      throw error;
    }
  },
};

function jump(struck: Struck, offsetMs: number, context: NemesisContext) {
  return context.levers.clock.skew(struck.host, offsetMs, wallClockOf(struck, context)).catch((error: Error) => {
    throw new Error(`${signed(offsetMs)} ms: ${error.message}`);
  });
}
