/**
 * SIGSTOP, SIGCONT. A holder that sleeps past its lease is the classic way to two owners. Sentinels are only ever paused
 * as a minority: one that was stopped for over 2 s refuses to act for half a minute.
 */

import type { PlanStep } from '../../harness/vocabulary/faults.js';
import { EndedMeanwhile } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from '../striking/context.js';
import { hostProcess, namesOf, resolveTarget } from '../striking/targets.js';
import { spareSentinels } from './spare-sentinels.js';

/** Of targets that ended before they could be stopped. */
const MOST_TRIES = 5;

export const pause: NemesisFault = {
  name: 'pause',
  summary: 'SIGSTOP, then SIGCONT: a long garbage collection, a swapped-out or suspended machine',
  explained: {
    does: 'SIGSTOP, and SIGCONT when healed: a long garbage collection, a swapped-out or suspended machine. Never more than a minority of the Sentinels: one that slept for over 2 s refuses to act for half a minute.',
    proof: 'The kernel must say that the process is stopped, and afterwards that it runs.',
    breaks:
      'Every lock with a lease: a holder that sleeps past it is a stale holder (`client-paused`). No such lock can prevent that; only fencing contains it.',
  },
  effects: ['stopped'],
  targets: ['holder', 'client', 'primary', 'one', 'minority', 'replica', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['process'],
  args: {},
  unfit: () => undefined,
  shape: (_topology, target, leaseMs) =>
    target === 'holder' || target === 'client'
      ? {
          lane: 'clients',
          forMs: { min: Math.round(1.2 * leaseMs), max: Math.round(1.5 * leaseMs) },
          leastMs: Math.round(1.15 * leaseMs),
          settleMs: 0,
        }
      : { lane: 'servers', forMs: { min: 800, max: 2_500 }, leastMs: 300, settleMs: 1_500 },
  async strike(step, context) {
    for (let tries = 1; ; tries++) {
      try {
        return await stop(step, context);
      } catch (error) {
        // Of a role another is struck: who holds may end at any time, and the next one holds as well.
        if (!(error instanceof EndedMeanwhile) || typeof step.target !== 'string' || tries === MOST_TRIES) throw error;
      }
    }
  },
};

async function stop(step: PlanStep, context: NemesisContext): Promise<ActiveNemesis> {
  const struck = await resolveTarget(step, context);
  return InForce.strike(async (inForce) => {
    await inForce.add(spareSentinels(struck, context));
    const grips = await inForce.addAll(struck.map((one) => context.levers.pause.pause(one.name, hostProcess(one))));
    return {
      record: {
        targets: namesOf(struck),
        did: `SIGSTOP to ${namesOf(struck).join(', ')}`,
        proof: grips.map((grip) => grip.proof).join('; '),
        effects: grips.flatMap(({ effects }) => effects),
      },
      heal: () => inForce.heal(),
    };
  });
}
