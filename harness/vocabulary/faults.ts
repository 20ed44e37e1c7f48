/** Faults, whom they strike, and plans of them. */
import type { FaultRecord, HistoryEvent } from './history.js';
import type { Capability, Host, HostProcess, Runtime } from './host.js';
import type { Clock, Random } from './time.js';
import type { Persistence, PlannedFailover, Quorum, ServiceName, Topology } from './topology.js';
import type { HoldLedger } from './verdict.js';

export type TargetRole =
  | 'primary'
  | 'replica'
  | 'one'
  | 'minority'
  | 'majority'
  | 'holder'
  | 'client'
  | 'sentinel'
  | 'all';

/** Whom a fault strikes: a role resolved when it fires, or names of nodes, Sentinels, or client slots. */
export type Target = TargetRole | { names: string[] };

/** A moment of the clients' or of the servers', right before or right after which a step is to strike. In virtual time alone. */
export interface Aim {
  side: 'before' | 'after';
  /**
   * A request that a client has sent; one that it has sent as it heard an answer, as the DEL after a GET; one that is answered otherwise
   * than the one before it, as a try that is granted after others were refused (of these: after alone); or the end of a lease on a server.
   * Before a request: it has not reached its server. After it: it was carried out, and its client has not heard so.
   */
  event: 'request' | 'going-on' | 'change' | 'expiry';
  /** The how many-th of these, from 1 on. */
  count: number;
}

export type When =
  /** Milliseconds after the torture phase began. `aim`: not then, but at the first such moment from then on. */
  | { atMs: number; aim?: Aim }
  /** After the `count`th such event since the torture phase began. `step` names a step point for `event: 'step'`. */
  | { after: { event: 'acquire' | 'release' | 'step'; count: number; client?: string; step?: string } };

/** One step of a nemesis plan: plain data. */
export type PlanStep = When & {
  fault: string;
  target: Target;
  /** How long the fault stays in force. */
  forMs: number;
  /** Fault-specific parameters: `offsetMs` (clock), `mode` (partition), `then` (failover), ... */
  args?: Record<string, number | string>;
};

export interface Plan {
  version: 1;
  seed: number;
  steps: PlanStep[];
}

/** A lock client as a fault sees it. */
export interface ClientTarget {
  readonly name: string;
  /** Who asks in it: names of clients in the history. The process itself, if it has but one caller. */
  readonly callers: readonly string[];
  readonly slot: string;
  readonly host: Host;
  readonly process: HostProcess;
  /** Keys held right now, as far as the harness knows. */
  readonly holding: readonly string[];
  /** Whether its program can stop itself at a step (feature `stop-at`). */
  readonly canStop: boolean;
  /** What the operation under way was asked, if it was: at which step to stop the process. One object an operation. */
  readonly stopping: { readonly step: string } | undefined;
  /** Kills the process; a new one comes up under a new name when the fault is healed (`resume`). */
  kill(): Promise<void>;
  resume(): void;
  /** Asks the program for its own wall clock; undefined where it cannot tell. */
  wallMs(): Promise<number | undefined>;
}

/** What a fault works with. */
export interface FaultContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: Runtime;
  readonly topology: Topology;
  /** Every host of the run: nodes, Sentinels and all client slots, also those whose process is being replaced. */
  readonly hosts: readonly Host[];
  /** Those of them that are client slots. */
  readonly clientHosts: readonly Host[];
  /** The locks that the run is about. */
  readonly keys: readonly string[];
  /** What a key is called on the servers. */
  keyName(key: string): string;
  readonly leaseMs: number;
  /** On independent nodes the lock is held only when all of them granted it. */
  readonly needsAllNodes: boolean;
  /** Says what a killed server has forgotten when it comes back. */
  readonly persistence: Persistence;
  /** The client processes alive now. */
  clients(): readonly ClientTarget[];
  /**
   * Has operations that are sent from now on stop their process (SIGSTOP, by itself) at a step, before its next command
   * leaves; `slot`: those of one client only. Call the result to ask it of no more. The caller must continue the processes.
   */
  stopAtStep(step: string, slot?: string): () => void;
  /** Who holds which lock now, and grants as they come. */
  readonly holds: HoldLedger;
  /** Every history event from now on, as it is recorded. Call the result to stop. */
  subscribe(listener: (event: HistoryEvent) => void): () => void;
  /** Recorded as a `fault` event. */
  note(record: FaultRecord): void;
  /** Aborts when the run ends early: waits inside a composite fault must heed it. */
  readonly signal: AbortSignal;
}

/** A fault in force. */
export interface ActiveFault {
  /** What was done, to whom, and the proof that was read back. */
  record: Omit<FaultRecord, 'step' | 'fault' | 'state'>;
  /** Undoes it; resolves with what was read back to show that it is undone. Rejects if it cannot be undone. */
  heal(): Promise<string>;
}

/** A plan being carried out. */
export interface NemesisRun {
  /** Resolves when every step has been fired and healed. */
  readonly done: Promise<void>;
  /** Heals everything still in force and starts nothing more; resolves when that is done. */
  stop(): Promise<void>;
  /** Asked of the hosts themselves: what is not healed, in words; empty when all is. */
  unhealed(): Promise<string[]>;
}

/** Thrown by a fault for a strike that cannot or must not be made now: recorded as `refused`, with the reason. */
export interface FaultRefusal extends Error {
  readonly refused: true;
}

/** What is known of a deployment before it is started. */
export interface TopologyFacts {
  readonly name: string;
  readonly service: ServiceName;
  /** As `TopologyKind.defaultFaults`. */
  readonly defaultFaults?: readonly string[] | undefined;
  readonly replicated: boolean;
  readonly quorum: Quorum['kind'];
  readonly plannedFailover?: PlannedFailover | undefined;
  readonly maxmemoryPolicy?: string | undefined;
}

export interface Fault {
  readonly name: string;
  /** One line for `list` and `--help`. */
  readonly summary: string;
  /** For `docs/faults.md`, in Markdown sentences. */
  readonly explained: {
    /** What exactly is done, and undone when it is healed. */
    does: string;
    /** What is read back before it counts as struck. */
    proof: string;
    /** Which locks it is known to break, where, and how that shows. */
    breaks: string;
  };
  /** Sensible targets; the first is the default. */
  readonly targets: readonly TargetRole[];
  readonly needs: readonly Capability[];
  /** Why it makes no sense on this topology, or undefined. */
  unfit(topology: TopologyFacts): string | undefined;
  /**
   * Strikes: resolves once the fault is in force *and read back*. Rejects with a FaultRefusal, or with an Error where
   * it was tried and the read-back does not show it (recorded as `failed`). Nothing is left in force by a rejection.
   */
  strike(step: PlanStep, context: FaultContext): Promise<ActiveFault>;
}
