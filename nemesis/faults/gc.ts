/**
 * A client that is stopped in the midst of its code, between two statements: a garbage collection. `pause` stops it, too, but in
 * virtual time only where it waits, so that nothing can come between a look at the clock and what is sent after it.
 *
 * Excludes servers, and real time, where nobody can say at which statement a signal comes.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import { EndedMeanwhile, Interrupted, Refusal } from '../levers/basics.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from '../striking/context.js';
import { hostProcess, namesOf, resolveTarget } from '../striking/targets.js';
import { wholeNumber } from './args.js';

/** Who does nothing for so long waits for something, and its stop would be as any other. */
const MOVES_WITHIN_MS = 500;
const MOST_MOMENTS = 1_000;
const FIRST = 1;
/** An attempt of most locks has some ten. */
const SEARCHED_MOMENTS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20];

export const gc: NemesisFault = {
  name: 'gc',
  summary: 'a stop in the midst of a client’s code, between its look at the clock and what it sends then (hunts only)',
  explained: {
    does: 'Stops a lock client for so long right before it reads a clock, sends something or sets a timer, in the midst of its code: the nth time (`moment`) from when the step begins. What it had looked at is old when it goes on.',
    proof: 'The simulated process says since when it is stopped, and that it goes on.',
    breaks:
      'What a client decides by its own clock: a lock that sees that its lease has some time left and then sends its renewal, its write or its answer may do so long after. Only what the server decides, or fencing, survives it; of every lock with a lease it makes a stale holder (`client-paused`), as `pause` does.',
  },
  effects: ['stopped'],
  targets: ['holder', 'client'],
  strikes: ['client'],
  needs: ['turns'],
  args: {
    moment: {
      means: 'before which read of a clock, message or timer, counted from the strike; 1 if not given',
      check: wholeNumber(FIRST, MOST_MOMENTS),
    },
  },
  unfit: () => undefined,
  shape: (_topology, _target, leaseMs) => ({
    lane: 'clients',
    forMs: { min: Math.round(1.2 * leaseMs), max: Math.round(1.5 * leaseMs) },
    leastMs: Math.round(1.15 * leaseMs),
    settleMs: 0,
    args: { moment: SEARCHED_MOMENTS },
  }),
  async strike(step, context) {
    const [struck] = await resolveTarget(step, context);
    if (!struck) throw new Refusal('there is nobody to stop');
    const stop = hostProcess(struck).stopWithin?.(momentOf(step), step.forMs);
    if (!stop) throw new Refusal(`${struck.name} cannot be stopped in the midst of its code`);
    if (!(await soon(stop.stopped, context))) {
      stop.cancel();
      if (context.signal.aborted) throw new Interrupted(`before ${struck.name} came to where it was to be stopped`);
      throw new EndedMeanwhile(`${struck.name} did not come to where it was to be stopped`);
    }
    const sinceNs = context.clock.nowNs();
    const effect = { kind: 'stopped' as const, who: [struck.name], sinceNs };
    let untilNs: number | undefined;
    const active: ActiveNemesis = {
      sinceNs,
      over: stop.over,
      record: {
        targets: namesOf([struck]),
        did: `stopped ${struck.name} in the midst of its code for ${step.forMs} ms`,
        proof: `${struck.name} is stopped`,
        effects: [effect],
      },
      // A run that ends does not cut it short: it goes on after its heal was asked for.
      meanwhile: () => (untilNs === undefined ? [] : [{ ...effect, untilNs }]),
      async heal() {
        await stop.over;
        untilNs = context.clock.nowNs();
        return `${struck.name} goes on, or has ended`;
      },
    };
    return active;
  },
};

function momentOf({ args }: PlanStep): number {
  return typeof args?.moment === 'number' ? args.moment : FIRST;
}

/** False where it does not come in time. */
function soon(stopped: Promise<boolean>, { clock, signal }: NemesisContext): Promise<boolean> {
  return Promise.race([stopped, clock.sleep(MOVES_WITHIN_MS, signal).then(() => false)]);
}
