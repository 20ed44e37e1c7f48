/**
 * What every fault works with, beyond `FaultContext`: the run's levers, all of its hosts, and what decides whether a
 * strike would make too many nodes forget.
 */
import type {
  ActiveFault,
  Fault,
  FaultContext,
  FaultRecord,
  FaultRefusal,
  Persistence,
  PlanStep,
  TargetRole,
} from '../harness/vocabulary/api.js';
import type { Levers } from './levers/index.js';

/** What one strike works with: notes are recorded as of its own step. */
export interface NemesisContext extends Omit<FaultContext, 'note'> {
  readonly levers: Levers;
  note(record: Omit<FaultRecord, 'step' | 'fault'>): void;
}

/** A fault in force, and since when: a composite takes force with its first cut, long before it has done its worst. */
export interface ActiveNemesis extends ActiveFault {
  /** `forMs` counts from here; absent: from when the strike resolved. */
  readonly sinceNs?: number;
  /** Resolves when it has done all that it had to do, and is to be healed though `forMs` is not over. */
  readonly over?: Promise<void>;
}

/** The facts about a deployment that planning needs: known before anything runs. */
export interface PlanTopology {
  name: string;
  replicated: boolean;
  maxmemoryPolicy?: string;
  /** Host names. */
  nodes: readonly string[];
  sentinels: readonly string[];
  /** Client slots. */
  clients: readonly string[];
}

/** How a fault is laid into a plan. */
export interface Shape {
  /** Server faults follow one another; client faults run beside them. */
  lane: 'servers' | 'clients';
  /** Usual time in force, bounds included. */
  forMs: { min: number; max: number };
  /** The least time in force in which it still means something; used where the time limit leaves no more. */
  leastMs: number;
  /** Time after its heal before the next server fault finds the deployment whole again. */
  settleMs: number;
  /** Choices made from the seed: each argument with its possible values. */
  args?: Record<string, readonly (string | number)[]>;
}

export type Struckable = 'node' | 'sentinel' | 'client';

/** An argument that a plan may give. */
export interface ArgumentRule {
  required?: true;
  /** In one line, for people: what it decides, and what is taken when it is not given. */
  means: string;
  /** `ms`, `ppm`; absent: it is a word. */
  unit?: string;
  /** What is wrong with a value, or undefined. */
  check(value: unknown): string | undefined;
}

/** A fault of this folder: it needs the levers, and says how it is planned. */
export interface NemesisFault extends Omit<Fault, 'strike'> {
  /** What kinds of hosts it can strike when a plan names them. */
  readonly strikes: readonly Struckable[];
  readonly args: Readonly<Record<string, ArgumentRule>>;
  shape(topology: PlanTopology, target: TargetRole | 'names', leaseMs: number): Shape;
  strike(step: PlanStep, context: NemesisContext): Promise<ActiveNemesis>;
}

/** A strike that cannot or must not be made now. */
export class Refusal extends Error implements FaultRefusal {
  override name = 'Refusal';
  readonly refused = true as const;
}

export function isRefusal(error: unknown): error is FaultRefusal {
  return error instanceof Error && (error as Partial<FaultRefusal>).refused === true;
}

/** Waits that may be cut short by the end of the run end in this. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  constructor(doing: string) {
    super(`the run ended ${doing}`);
  }
}

/** The largest number of nodes that may forget at once. */
export function minorityOf(count: number): number {
  return Math.floor((count - 1) / 2);
}

/** Whether a node that is killed and started again has lost what it had acknowledged. */
export function killForgets(persistence: Persistence): boolean {
  // A process that dies loses nothing that its kernel already has; every write of aof-always has reached it.
  return persistence !== 'aof-always';
}

/** Polls until `read` gives a value; undefined when the time is over. Rejects with Interrupted when the run ends. */
export async function waitFor<T>(
  read: () => Promise<T | undefined> | T | undefined,
  options: { timeoutMs: number; pollMs: number; doing: string; context: Pick<FaultContext, 'clock' | 'signal'> },
): Promise<T | undefined> {
  const { clock, signal } = options.context;
  const giveUpNs = clock.nowNs() + options.timeoutMs * 1e6;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (signal.aborted) throw new Interrupted(options.doing);
    if (clock.nowNs() >= giveUpNs) return undefined;
    await clock.sleep(options.pollMs, signal);
  }
}

export function words(names: readonly string[]): string {
  return names.length === 0 ? 'nobody' : names.join(', ');
}

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
