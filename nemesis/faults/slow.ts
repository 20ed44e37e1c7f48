/**
 * Stopped for `pauseMs`, again and again, every `everyMs`: a machine that is overloaded, swaps, or shares its processor. A
 * node that is slow answers late and is not down; a client that is slow hears late of what it was granted.
 *
 * No stop is long enough for a Sentinel to distrust its clock (2 s) or for the harness's own channel to give up (1 s).
 */

import type { FaultEffect } from '../../harness/vocabulary/history.js';
import { message, Refusal } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { ended, type Grip } from '../levers/network.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { ongoing } from '../striking/ongoing.js';
import { hostProcess, isNode, namesOf, resolveTarget, type Struck } from '../striking/targets.js';
import { wholeNumber } from './args.js';
import { spareSentinels } from './spare-sentinels.js';

const PAUSE_MS = 100;
/** Of the time between two stops, the part in which it is stopped, where only `pauseMs` is given. */
const DUTY = 0.5;
const LONGEST_MS = 800;
const PINGS_BEFORE = 5;

export const slow: NemesisFault = {
  name: 'slow',
  summary: 'SIGSTOP for pauseMs every everyMs: a node that answers late, a client that works in fits and starts',
  explained: {
    does: 'SIGSTOP for `pauseMs`, then SIGCONT, again every `everyMs`, as long as the fault lasts: a machine that is overloaded, swaps, or shares its processor. A process that another fault keeps stopped stays stopped. Never more than a minority of the Sentinels, and no stop long enough for one to distrust its clock.',
    proof:
      'At every stop the kernel must say that the process is stopped. A PING sent to a server at that moment, through the channel that no fault cuts, must come back no sooner than the stop allows; the time that a PING took before is given with it. The heal says how many stops there were, and what the PINGs in them took.',
    breaks:
      'No lock that measures how long its grant took was seen to break: Redlock counts a node that is later than its time-out as silent and refuses more often (`no-quorum`, `unreachable`). Stops longer than the time-out of a command make acquires and releases end in doubt, and what a doubtful acquire left behind stands for a lease.',
  },
  effects: ['slowed', 'stopped'],
  targets: ['primary', 'one', 'minority', 'replica', 'holder', 'client', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['process'],
  args: {
    pauseMs: {
      means: `how long it is stopped each time; ${PAUSE_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(5, LONGEST_MS),
    },
    everyMs: {
      means: 'from the beginning of one stop to the next, more than pauseMs; twice pauseMs if not given',
      unit: 'ms',
      check: wholeNumber(10, 60_000),
    },
  },
  unfit: () => undefined,
  shape: (_topology, target) => ({
    ...(target === 'client' || target === 'holder'
      ? { lane: 'clients', settleMs: 0 }
      : { lane: 'servers', settleMs: 1_000 }),
    forMs: { min: 1_500, max: 4_000 },
    leastMs: 1_000,
    // More than a Redlock client waits for one node; three times that; nearly what counts as down.
    args: { pauseMs: [60, 150, 400], everyMs: [500, 450] },
  }),
  async strike(step, context) {
    const pauseMs = Number(step.args?.pauseMs ?? PAUSE_MS);
    const everyMs = Number(step.args?.everyMs ?? pauseMs / DUTY);
    if (everyMs <= pauseMs) throw new Refusal(`stopped for ${pauseMs} ms every ${everyMs} ms it would never run`);
    const sinceNs = context.clock.nowNs();
    const struck = await resolveTarget(step, context);
    const targets = namesOf(struck);
    return InForce.strike(async (inForce) => {
      await inForce.add(spareSentinels(struck, context));
      const slowed = struck.map((one) => new Slowed(one, pauseMs, context));
      for (const one of slowed) await inForce.add(one);
      const firsts = await Promise.all(slowed.map((one) => one.first()));
      const stopping = slowed.map((one) =>
        ongoing(context, [one.name], (signal) => one.goOn(everyMs - pauseMs, signal)),
      );
      return {
        sinceNs,
        record: {
          targets,
          did: `SIGSTOP to ${targets.join(', ')} for ${pauseMs} ms, every ${everyMs} ms`,
          proof: firsts.join('; '),
          effects: [{ kind: 'slowed', who: targets, stopMs: pauseMs, everyMs, sinceNs }],
        },
        meanwhile: () => slowed.flatMap(({ stopped }) => stopped),
        heal: async () => {
          await Promise.all(stopping.map((one) => one.stop()));
          return inForce.heal();
        },
      };
    });
  },
};

/** One process that is stopped again and again. */
class Slowed {
  readonly name: string;
  /** Every stop that is over. */
  readonly stopped: FaultEffect[] = [];
  private stops = 0;
  private readonly tookMs: number[] = [];
  private beforeMs: number | undefined;
  private current: Grip | undefined;

  constructor(
    private readonly struck: Struck,
    private readonly pauseMs: number,
    private readonly context: NemesisContext,
  ) {
    this.name = struck.name;
  }

  /** The first stop, which proves that it is slow. */
  async first(): Promise<string> {
    if (this.context.levers.pause.isPaused(hostProcess(this.struck))) {
      throw new Refusal(`${this.name} is kept stopped by another fault`);
    }
    if (isNode(this.struck) && (await this.struck.node.process.state()) === 'running') {
      const before: number[] = [];
      for (let left = PINGS_BEFORE; left > 0; left--) before.push(await this.ping());
      this.beforeMs = median(before);
    }
    const stopped = await this.stop();
    const took = this.tookMs[0];
    if (took === undefined) return stopped;
    if (took < this.pauseMs / 2) {
      throw new Error(`${stopped}, but its PING took ${shown(took)} ms only, of a stop of ${this.pauseMs} ms`);
    }
    return `${stopped}; its PING took ${shown(took)} ms, before ${shown(this.beforeMs ?? 0)} ms`;
  }

  /** A process that died cannot be stopped: that is noted once, and it is tried again, as a server may come back. */
  async goOn(runMs: number, signal: AbortSignal): Promise<void> {
    let noted = false;
    for (;;) {
      await this.context.clock.sleep(runMs, signal);
      if (signal.aborted) return;
      if (this.context.levers.pause.isPaused(hostProcess(this.struck))) continue;
      try {
        await this.stop(signal);
      } catch (error) {
        // One that does not run again is the heal's business.
        if (this.current) throw error;
        if (noted) continue;
        noted = true;
        this.context.note({
          state: 'phase',
          targets: [this.name],
          did: `${this.name} could not be stopped`,
          proof: message(error),
          effects: [],
        });
      }
    }
  }

  async heal(): Promise<string> {
    const said = await this.resume();
    const most = this.tookMs.length > 0 ? Math.max(...this.tookMs) : 0;
    const pings =
      this.tookMs.length > 0
        ? `; PINGs in them took ${shown(median(this.tookMs))} ms in the middle and ${shown(most)} ms at most, before ${shown(this.beforeMs ?? 0)} ms`
        : '';
    const runs = said || (await this.runs());
    return `${this.name} was seen stopped ${this.stops} times${pings}; ${runs}`;
  }

  /** Once: stopped, seen to be, and running again. */
  private async stop(signal?: AbortSignal): Promise<string> {
    const { clock, levers } = this.context;
    const grip = await levers.pause.pause(this.name, hostProcess(this.struck));
    this.current = grip;
    this.stops++;
    const ping = isNode(this.struck) ? this.ping().catch(() => undefined) : undefined;
    await clock.sleep(this.pauseMs, signal);
    await this.resume();
    const took = await ping;
    // A stop that was cut short by the heal proves nothing by its length.
    if (took !== undefined && !signal?.aborted) this.tookMs.push(took);
    return grip.proof;
  }

  private async resume(): Promise<string> {
    const untilNs = this.context.clock.nowNs();
    const said = await this.current?.heal();
    if (this.current) this.stopped.push(...ended(this.current.effects, untilNs));
    this.current = undefined;
    return said ?? '';
  }

  private async runs(): Promise<string> {
    const state = await hostProcess(this.struck).state();
    return `it is ${state} now`;
  }

  private async ping(): Promise<number> {
    if (!isNode(this.struck)) return 0;
    const { clock } = this.context;
    const sentNs = clock.nowNs();
    await this.struck.node.ping();
    return (clock.nowNs() - sentNs) / 1e6;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function shown(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : String(Math.round(ms));
}
