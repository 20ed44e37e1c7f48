/**
 * What every fault works with, beyond `FaultContext`: the run's levers, all of its hosts, and what decides whether a
 * strike would make too many nodes forget.
 */
import type {
  ActiveFault,
  Fault,
  FaultContext,
  PlanStep,
  TargetRole,
  TopologyFacts,
} from '../../harness/vocabulary/faults.js';
import type { FaultEffect, FaultRecord } from '../../harness/vocabulary/history.js';
import type { Persistence } from '../../harness/vocabulary/topology.js';
import type { Levers } from '../levers/index.js';
import type { AtStep } from './step-watch.js';

/** What one strike works with: notes are recorded as of its own step. */
export interface NemesisContext extends Omit<FaultContext, 'note'> {
  readonly levers: Levers;
  /** Of a strike at a step of a lock, or at what its plan aims at: who is there. */
  at?: AtStep;
  note(record: Omit<FaultRecord, 'step' | 'fault'>): void;
}

/** A fault in force, and since when: a composite takes force with its first cut, long before it has done its worst. */
export interface ActiveNemesis extends ActiveFault {
  /** `forMs` counts from here; absent: from when the strike resolved. */
  readonly sinceNs?: number;
  /** Resolves when it has done all that it had to do, and is to be healed though `forMs` is not over. */
  readonly over?: Promise<void>;
  /** What else it did by the time it was healed; asked once it is. */
  readonly meanwhile?: () => FaultEffect[];
  /** Why what was in force was not what was asked for, or undefined; asked once it is healed. */
  readonly late?: () => string | undefined;
}

/** The facts about a deployment that planning needs: known before anything runs. */
export interface PlanTopology extends TopologyFacts {
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
  /** What its records may tell of; no checker knows it by anything else. */
  readonly effects: readonly FaultEffect['kind'][];
  shape(topology: PlanTopology, target: TargetRole | 'names', leaseMs: number): Shape;
  strike(step: PlanStep, context: NemesisContext): Promise<ActiveNemesis>;
}

/** Whether a node that is killed and started again has lost what it had acknowledged. */
export function killForgets(persistence: Persistence): boolean {
  // A process that dies loses nothing that its kernel already has; every write of aof-always has reached it.
  return persistence !== 'aof-always';
}
