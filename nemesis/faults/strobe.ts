/**
 * A wall clock that jumps to and fro between where it was and `offsetMs`, every `everyMs`; back where it was when healed.
 * A key that was set on one side of a jump is judged on the other, again and again.
 */

import { message, Refusal } from '../levers/basics.js';
import { type StrobeHold, signed } from '../levers/clock.js';
import { InForce } from '../levers/in-force.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { ongoing } from '../striking/ongoing.js';
import { namesOf, resolveTarget, type Struck } from '../striking/targets.js';
import { clockOffset, wholeNumber } from './args.js';
import { countEarlyExpiry, wallClockOf } from './wall-clock.js';

const EVERY_MS = 100;

export const strobe: NemesisFault = {
  name: 'strobe',
  summary: 'a wall clock jumps to and fro by offsetMs every everyMs, and is back where it was when healed',
  explained: {
    does: 'The wall clock that a program sees jumps by `offsetMs` and back again, every `everyMs`, as long as the fault lasts; healed, it is back where it was. CLOCK_MONOTONIC is left alone.',
    proof:
      'The program is asked for the time after every jump, and must be seen at both ends before it counts as struck. The heal says at how many of the jumps it was seen where it should be; a jump at which it was not is recorded.',
    breaks:
      'What `clock` breaks, whichever way it jumps: a key that was set while the clock was behind has expired as soon as it is ahead by more than the lease, so exclusion (`clock-jumped`) for every lock that trusts that one server, and for Redlock with a minority of such nodes where a lock stood on a bare majority. Jumps shorter than the lease only shorten it.',
  },
  effects: ['clock-strobes'],
  targets: ['one', 'primary', 'replica', 'minority', 'client', 'holder', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['clock'],
  args: {
    offsetMs: { required: true, means: 'the other end of the jumps; negative: behind', unit: 'ms', check: clockOffset },
    everyMs: {
      means: `time between two jumps; ${EVERY_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(10, 10_000),
    },
  },
  unfit: () => undefined,
  shape: (_topology, target, leaseMs) => ({
    lane: target === 'client' || target === 'holder' ? 'clients' : 'servers',
    forMs: { min: 1_000, max: Math.max(1_500, leaseMs) },
    leastMs: 500,
    settleMs: 500,
    args: {
      offsetMs: [1.2, -1.2, 0.4].map((part) => Math.round(part * leaseMs)),
      everyMs: [100, 30, 300, 60],
    },
  }),
  async strike(step, context) {
    const { offsetMs, everyMs = EVERY_MS } = step.args ?? {};
    if (typeof offsetMs !== 'number') throw new Refusal('offsetMs says how far the clock jumps; it is missing');
    const sinceNs = context.clock.nowNs();
    const struck = await resolveTarget(step, context);
    const targets = namesOf(struck);
    const loss = countEarlyExpiry(struck, context);
    try {
      return await InForce.strike(async (inForce) => {
        const clocks = await Promise.all(struck.map((one) => inForce.add(strobing(one, offsetMs, context))));
        const seen = await Promise.all(clocks.map((one) => bothEnds(one)));
        const counts: Counts = { seen: 2 * clocks.length, jumps: 2 * clocks.length };
        const jumping = ongoing(context, targets, (signal) =>
          toAndFro(clocks, { everyMs: Number(everyMs), targets, counts, context, signal }),
        );
        return {
          sinceNs,
          record: {
            targets,
            did: `clock of ${targets.join(', ')} jumps by ${signed(offsetMs)} ms and back every ${everyMs} ms`,
            proof: seen.join('; '),
            effects: clocks.flatMap(({ effects }) => effects),
          },
          heal: async () => {
            await jumping.stop();
            const said = await inForce.heal();
            loss.end();
            return `seen where it should be after ${counts.seen} of ${counts.jumps} jumps; ${said}`;
          },
        };
      });
    } catch (error) {
      loss.end();
      throw error;
    }
  },
};

interface Counts {
  seen: number;
  jumps: number;
}

function strobing(struck: Struck, offsetMs: number, context: NemesisContext): StrobeHold {
  return context.levers.clock.strobe(struck.host, offsetMs, wallClockOf(struck, context));
}

async function bothEnds(clock: StrobeHold): Promise<string> {
  const there = await clock.flip();
  return `${there}; and back: ${await clock.flip()}`;
}

interface Jumping {
  everyMs: number;
  targets: readonly string[];
  counts: Counts;
  context: NemesisContext;
  signal: AbortSignal;
}

/** A program that was killed or stopped meanwhile cannot be asked: its clock jumps on, and the first such jump is noted. */
async function toAndFro(clocks: readonly StrobeHold[], jumping: Jumping): Promise<void> {
  const { everyMs, targets, counts, context, signal } = jumping;
  let noted = false;
  for (;;) {
    await context.clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    const flips = await Promise.allSettled(clocks.map((clock) => clock.flip()));
    counts.jumps += flips.length;
    counts.seen += flips.filter(({ status }) => status === 'fulfilled').length;
    const missed = flips.find((flip) => flip.status === 'rejected');
    if (!missed || noted) continue;
    noted = true;
    context.note({
      state: 'phase',
      targets: [...targets],
      did: 'a jump was not seen',
      proof: message(missed.reason),
      effects: [],
    });
  }
}
