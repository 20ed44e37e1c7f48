/**
 * Carries out a plan: fires each step when it is due, records what became of it, heals it when its time is over.
 *
 * Every step of the plan ends in the history: struck and healed, refused, or failed. Nothing is skipped silently.
 */
import { setMaxListeners } from 'node:events';
import type { FaultContext, NemesisRun, Plan, PlanStep } from '../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord } from '../harness/vocabulary/history.js';
import { faults } from './faults/index.js';
import { Interrupted, isRefusal, message } from './levers/basics.js';
import { effectsBefore, LeftInForce } from './levers/in-force.js';
import { createLevers, type Levers } from './levers/index.js';
import { momentOf } from './striking/aims.js';
import type { ActiveNemesis, NemesisContext } from './striking/context.js';
import { type AtStep, matchesTrigger, neverCame, StepWatch, type Trigger } from './striking/step-watch.js';
import { findUnhealed } from './unhealed.js';

/** Starts carrying out the plan; its times count from now. */
export function runNemesis(plan: Plan, context: FaultContext): NemesisRun {
  const levers = leversFor(context);
  const stopping = new AbortController();
  const whole = { ...context, signal: AbortSignal.any([context.signal, stopping.signal]) };
  // Every step of a long plan waits on it: that is no leak.
  setMaxListeners(0, whole.signal);
  const left: StepRun[] = [];
  const startNs = context.clock.nowNs();
  // Not ended with the plan: who is asked to stop at a step may come there later, and must go on.
  const watch = new StepWatch(context, levers);
  const steps = plan.steps.map((step, index) => new StepRun(index, step, whole, levers, watch));
  const carried = Promise.all(
    steps.map(async (step) => {
      await step.carryOut(startNs);
      if (step.isInForce) left.push(step);
    }),
  );
  const done = carried.then(() => {});
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
      // What could not be healed then may be healable now, when nothing else is in force any more.
      for (const step of left.splice(0)) {
        await step.heal();
        if (step.isInForce) left.push(step);
      }
    },
    unhealed: () => findUnhealed(context, levers),
  };
}

function leversFor({ clock, topology, leaseMs, random, runtime }: FaultContext): Levers {
  return createLevers(clock, topology, leaseMs, random, runtime.ownNetwork);
}

/** Faults that strike on command, and stay until they are healed on command. */
export interface NemesisByHand {
  /** What was struck so far, as a plan would say it. */
  readonly steps: readonly PlanStep[];
  /** Resolves once the fault is in force and read back; with what heals it. Both reject where they could not. */
  strike(fault: Pick<PlanStep, 'fault' | 'target' | 'args'>): Promise<{ heal(): Promise<void> }>;
  /** Heals what is in force, the latest first. */
  stop(): Promise<void>;
  unhealed(): Promise<string[]>;
}

/**
 * What a strike by hand may take, where a fault waits for its moment. How long it is to be in force is not known
 * beforehand.
 */
const STRIKES_WITHIN_MS = 10_000;

/** A nemesis that follows no plan. Times of its steps count from now. */
export function nemesisByHand(context: FaultContext): NemesisByHand {
  const levers = leversFor(context);
  const startNs = context.clock.nowNs();
  const elapsedMs = () => Math.round((context.clock.nowNs() - startNs) / 1e6);
  const steps: (PlanStep & { atMs: number })[] = [];
  const runs: StepRun[] = [];
  const heal = async (index: number) => {
    await runs[index]!.heal();
    steps[index]!.forMs ||= elapsedMs() - steps[index]!.atMs;
  };
  const healOrReject = async (index: number) => {
    await heal(index);
    if (runs[index]!.isInForce) throw new Error(`${steps[index]!.fault} could not be healed; the history says why`);
  };
  return {
    steps,
    async strike(fault) {
      const index = steps.length;
      const step = { atMs: elapsedMs(), forMs: 0, ...fault };
      const run = new StepRun(index, { ...step, forMs: STRIKES_WITHIN_MS }, context, levers);
      steps.push(step);
      runs.push(run);
      const why = await run.strikeNow();
      if (why !== undefined) throw new Error(`${fault.fault} did not strike: ${why}`);
      return { heal: () => healOrReject(index) };
    },
    async stop() {
      for (const index of [...runs.keys()].reverse()) if (runs[index]!.isInForce) await heal(index);
    },
    unhealed: () => findUnhealed(context, levers),
  };
}

class StepRun {
  private readonly context: NemesisContext;
  private readonly whole: FaultContext;
  private undo: (() => Promise<string>) | undefined;
  private targets: string[] = [];
  private meanwhile: () => FaultEffect[] = () => [];
  private late: () => string | undefined = () => undefined;
  /** Since when the nemesis is at what it records next: the strike, the last record, the heal. */
  private beganNs: number | undefined;
  private whyNot = '';

  constructor(
    private readonly index: number,
    private readonly step: PlanStep,
    whole: FaultContext,
    levers: Levers,
    /** Absent: it is struck by hand, whatever its time. */
    private readonly watch?: StepWatch,
  ) {
    this.whole = whole;
    this.context = {
      ...whole,
      levers,
      random: whole.random.fork(`step ${index}`),
      note: (record) => this.note(record),
    };
  }

  /** True while something of it could not be undone. */
  get isInForce(): boolean {
    return this.undo !== undefined;
  }

  /** Never rejects: whatever happens is recorded. */
  async carryOut(startNs: number): Promise<void> {
    const { clock, signal } = this.context;
    const notDue = await this.due(startNs);
    if (notDue) return this.notStruck('refused', notDue);
    const active = await this.strike();
    await this.context.at?.goOn();
    if (!active) return;
    const healNs = (active.sinceNs ?? clock.nowNs()) + this.step.forMs * 1e6;
    const over = new AbortController();
    void active.over?.then(() => over.abort());
    await clock.sleep(Math.max(0, (healNs - clock.nowNs()) / 1e6), AbortSignal.any([signal, over.signal]));
    await this.heal();
  }

  /** Strikes whatever the time; resolves with the reason where it could not. */
  async strikeNow(): Promise<string | undefined> {
    await this.strike();
    return this.isInForce ? undefined : this.whyNot;
  }

  async heal(): Promise<void> {
    if (!this.undo) return;
    this.beganNs = this.context.clock.nowNs();
    try {
      const proof = await this.undo();
      this.undo = undefined;
      const effects = this.meanwhile();
      const late = this.late();
      const told = { targets: this.targets, did: `healed ${this.step.fault}`, proof, effects };
      this.note({ state: 'heal', ...told, ...(late !== undefined && { late }) });
    } catch (error) {
      this.note({
        state: 'failed',
        targets: this.targets,
        did: `tried to heal ${this.step.fault}`,
        proof: message(error),
        effects: [],
      });
    }
  }

  /** Resolves when it is due; with the reason when the run ended before. */
  private async due(startNs: number): Promise<string | undefined> {
    const { step, context } = this;
    if (!('after' in step)) {
      const { atMs, aim } = step;
      const over = await dueAt(atMs, startNs, context);
      return over !== undefined || !aim ? over : this.when(momentOf({ ...step, aim }, context));
    }
    if (step.after.event !== 'step' || !this.watch) return triggered(step.after, context);
    return this.when(this.watch.next(step.after, context.signal));
  }

  private async when(moment: Promise<AtStep | string>): Promise<string | undefined> {
    const at = await moment;
    if (typeof at === 'string') return at;
    this.context.at = at;
    return undefined;
  }

  private async strike(): Promise<ActiveNemesis | undefined> {
    const fault = faults[this.step.fault];
    if (!fault) {
      this.notStruck('refused', `there is no fault "${this.step.fault}"`);
      return undefined;
    }
    this.beganNs = this.context.clock.nowNs();
    try {
      const active = await fault.strike(this.step, this.context);
      this.undo = active.heal;
      if (active.meanwhile) this.meanwhile = active.meanwhile;
      if (active.late) this.late = active.late;
      this.targets = active.record.targets;
      this.note({ state: 'strike', ...active.record, ...(await whereItStruck(active.record, this.context.at)) });
      return active;
    } catch (error) {
      if (error instanceof LeftInForce) this.undo = error.heal;
      const state = isRefusal(error) || error instanceof Interrupted ? 'refused' : 'failed';
      this.notStruck(state, message(error), effectsBefore(error));
      return undefined;
    }
  }

  private notStruck(state: 'refused' | 'failed', reason: string, effects: FaultEffect[] = []): void {
    this.whyNot = reason;
    const target = this.step.target;
    const whom = typeof target === 'string' ? target : target.names.join(', ');
    const did = state === 'refused' ? `did not strike ${whom}` : `tried to strike ${whom}`;
    this.note({ state, targets: [], did, proof: reason, effects });
  }

  private note(record: Omit<FaultRecord, 'step' | 'fault'>): void {
    const { beganNs } = this;
    this.beganNs = this.context.clock.nowNs();
    const began = beganNs === undefined ? {} : { beganNs };
    this.whole.note({ step: this.index, fault: this.step.fault, ...record, ...began });
  }
}

/** What a strike's record says of the moment that it was to strike at. */
async function whereItStruck(
  { proof }: ActiveNemesis['record'],
  at: AtStep | undefined,
): Promise<Pick<FaultRecord, 'proof' | 'late'>> {
  if (!at) return {};
  const late = at.late ?? (await at.checked());
  return { proof: `${proof}; ${at.seen}`, ...(late !== undefined && { late }) };
}

/** Resolves when the moment has come; with the reason when the run ended before. */
async function dueAt(atMs: number, startNs: number, { clock, signal }: NemesisContext): Promise<string | undefined> {
  await clock.sleep(Math.max(0, atMs - (clock.nowNs() - startNs) / 1e6), signal);
  return signal.aborted ? 'the run ended before it was due' : undefined;
}

function triggered(after: Trigger, { signal, subscribe }: NemesisContext): Promise<string | undefined> {
  let count = 0;
  return new Promise((resolve) => {
    const end = (reason: string | undefined) => {
      unsubscribe();
      signal.removeEventListener('abort', ended);
      resolve(reason);
    };
    const ended = () => end(neverCame(after, count));
    const unsubscribe = subscribe((event) => {
      if (!matchesTrigger(event, after)) return;
      count++;
      if (count === after.count) end(undefined);
    });
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended, { once: true });
  });
}
