/** What the clients of a run do: scripts drawn from a seed, or a play that leads them step by step. */
import type { Target } from './faults.js';
import type { Completion, HistoryEvent } from './history.js';
import type { Capability } from './host.js';
import type { HandshakeValue, LockMode, LockModel, Stoppable } from './protocol.js';
import type { Random } from './time.js';
import type { Persistence, Topology, WithServerNeeds } from './topology.js';
import type { CauseName, ViolationClass } from './verdict.js';

export interface WorkloadOptions {
  /** How many of them there are. */
  clients: number;
  keys: readonly string[];
  leaseMs: number;
  waitMs: number;
  hold: HoldTimes;
  /** Careless clients ignore the validity that the lock told them, and `lost`. */
  careless: boolean;
  /** Milliseconds, from whenever: what a budget of time is counted by. */
  nowMs(): number;
  /** A key that the process held that died in this one's place: its work is to be taken up again. */
  resumes?: string;
  /** Whose script it is; absent: it does not matter. */
  place?: ScriptPlace;
}

/** Which client a script is for. */
export interface ScriptPlace {
  /** Of its slot, from 0 on. */
  slot: number;
  /** No process was there before it. */
  isFirst: boolean;
  /** When the first script of the run began, by `nowMs`. */
  beganMs: number;
}

/** How long clients work under the lock: bounds in parts of the lease, or a mixture. */
export type HoldTimes = MinMax | MixedHolds;

export interface MinMax {
  min: number;
  max: number;
}

/** Nearly all holds are brief, so that the lock changes hands often; now and then one is long, so that there is something to lose. */
export interface MixedHolds {
  /** Of a brief hold, milliseconds: from 1 to 2 is as likely as from 10 to 20. */
  briefMs: MinMax;
  /** Of a long one, in parts of the lease. */
  long: MinMax;
  /** The budget: which part of all keys' time long holds are to take. It decides how many there are. */
  longShare: number;
  /** On which part of the keys they are, the first ones; absent: on any, as before this was said. */
  longOn?: number;
  /** How long an acquire for a brief hold waits, milliseconds, drawn like the hold; absent: as long as one for a long hold. */
  briefWaitMs?: MinMax;
  /** Of acquires for a brief hold, the part that does not wait at all; absent: none, as before this was said. */
  briefTries?: number;
  /** Of a client between two turns, milliseconds. */
  pauseMs: MinMax;
  /** What else than to work and to release is done under some holds; absent: nothing, as before this was said. */
  habits?: HoldHabits;
  /** What is done before anything strikes, on a key that is left to it; absent: nothing, as before this was said. */
  opening?: Opening;
}

/**
 * At the beginning the first client takes a key, and the second waits for it for longer than any lease, for a short lease of its
 * own. Milliseconds.
 */
export interface Opening {
  /** For how long it is held, if its holder lives so long. */
  heldMs: number;
  /** For how long it is waited for. */
  waitMs: number;
  /** The lease of who waits. */
  waiterLeaseMs: number;
}

/** What clients do now and then that a lock must bear, each a part of the holds of its kind. */
export interface HoldHabits {
  /** Of long holds, those that outlast the lease, as far as the lock renews or can be extended. */
  keptOn: number;
  /** How long these last, in parts of the lease. */
  kept: MinMax;
  /** Of long holds, those that are given up, and released only when their client holds the key again. */
  releasedLate: number;
  /** Of brief holds, those that are extended midway. */
  extended: number;
  /** Of brief holds and of those that outlast the lease, the ones under which another key is taken for a moment. */
  besideAnother: number;
  /** Of acquires for long, those that wait for up to a lease and a fifth. */
  patient: number;
  /**
   * Of acquires for brief holds of the last key, where no long hold is on that, those whose caller gives up while they may be on
   * their way; absent: none, as before this was said.
   */
  cancelled?: number;
}

/** While it waits for an operation's answer a client may have to give up what it holds, recorded as by `abandon`. */
interface GivingUp {
  givesUp?: { hold: number; afterMs: number };
}

/**
 * What a client is to do next. `idle` ends early when `untilLost` names a hold and that hold is reported lost; where it `isWork` of
 * the client's process, also when that was stopped meanwhile, and runs again.
 */
export type Instruction =
  | ({
      do: 'acquire';
      key: string;
      leaseMs: number;
      waitMs: number;
      mode?: LockMode;
      /** The caller gives up after so long, milliseconds, if there is no answer by then. */
      cancelAfterMs?: number;
    } & Stoppable &
      GivingUp)
  | ({ do: 'extend'; hold: number; leaseMs: number } & Stoppable & GivingUp)
  | ({ do: 'release'; hold: number } & Stoppable & GivingUp)
  /** Of what the lock protects; only in a workload with a resource. */
  | { do: 'read'; hold: number }
  | { do: 'write'; hold: number; value: number }
  /** The program is asked for the time, at work under a hold: its stamps are the record that it ran. */
  | { do: 'clock'; under: number }
  /** Work under it is over, though it is not released yet: recorded as `lost`, which ends the hold. */
  | { do: 'abandon'; hold: number }
  | { do: 'idle'; ms: number; untilLost?: number; isWork?: true };

/** How an instruction ended, as the script sees it. */
export type Outcome = ({ type: 'ok' | 'fail' | 'info'; id: number } & Completion) | Woke;

/** After `idle` and `abandon`. `leftMs`: what was left of work when its client was stopped, which runs again now. */
export interface Woke {
  type: 'woke';
  lost: boolean;
  leftMs?: number;
}

/** A client's behaviour: yields instructions, is sent their outcomes. Pure; ends when it returns. */
export type ClientScript = Generator<Instruction, void, Outcome>;

/**
 * What clients do that a checker may need of a run:
 * - `counts`: what a client writes to the resource is one more than what it has read there under the same hold;
 * - `writes`: a client writes to the resource under its hold, whatever stands there;
 */
export type ClientHabit = 'counts' | 'writes';

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** What one client does. `lock` is what the lock says of itself. */
  script(options: WorkloadOptions, random: Random, lock: HandshakeValue): ClientScript;
  readonly habit?: ClientHabit;
  /** What its clients take the lock for. */
  readonly model: LockModel;
  /** Any lock will do, whatever it promises: no checker judges what these clients do. */
  readonly anyLock?: true;
  /** Features of which the lock must have one, or the workload cannot be done with it. */
  readonly needs?: readonly string[];
  /** Whether its clients read and write a resource that the lock protects. */
  readonly resource?: true;
  /** Of how many locks its clients take several at once: with fewer they do nothing that is its own; absent: 1. */
  readonly leastKeys?: number;
  /** Its scripts know what to do of an opening (`MixedHolds`). */
  readonly opens?: true;
  /** What a run takes where its flags do not say. */
  readonly defaults?: WorkloadDefaults;
}

export interface WorkloadDefaults {
  /** Where the topology is one that the lock is for. */
  lock?: string;
  /** As for `--nemesis`. */
  nemesis?: string;
  clients?: number;
  callers?: number;
  keys?: number;
  leaseMs?: number;
  waitMs?: number;
  hold?: MinMax;
  careless?: boolean;
  resource?: ResourceMode;
}

/** Whether the protected resource looks at fencing tokens: `checking` refuses one that is older than the newest it saw. */
export type ResourceMode = 'trusting' | 'checking';

/** A claim about locks, and the play that proves or refutes it on real servers. */
export interface Scenario extends WithServerNeeds {
  readonly name: string;
  /** What is said, as one would hear it. */
  readonly claim: string;
  /** What is true of it, which the play shows. */
  readonly truth: string;
  readonly topology: string;
  readonly lock: string;
  /** What the play needs of the run, where it is not the usual. */
  readonly settings?: {
    clients?: number;
    leaseMs?: number;
    keys?: number;
    resource?: ResourceMode;
    nodes?: number;
    persistence?: Persistence;
    minReplicasToWrite?: number;
    maxmemoryPolicy?: string;
    redisConf?: readonly (readonly [key: string, value: string])[];
  };
  /** What its faults need that must be known before servers are started. */
  readonly needs?: readonly Capability[];
  /** What the checkers must find, all of it and of no other class. Empty: the lock must have held. */
  readonly expect: readonly ExpectedFinding[];
  play(stage: Stage): Promise<void>;
}

export interface ExpectedFinding {
  class: ViolationClass;
  /** `overlap`, `stale-write`, ...; absent: any. */
  kind?: string;
  cause?: CauseName;
}

/** What a play has in hands. Everything that it waits for is bounded; what does not come rejects with what was waited for. */
export interface Stage {
  readonly topology: Topology;
  readonly leaseMs: number;
  /** The lock renews by itself what is held. */
  readonly renews: boolean;
  /** Milliseconds, by the run's clock. */
  nowMs(): number;
  /** Clients from 1 on, each a process on a host of its own. */
  client(n: number): StageClient;
  /** Strikes now and stays until it is healed, or the play is over. Rejects where it could not. */
  strike(fault: string, target: Target, args?: Record<string, number | string>): Promise<{ heal(): Promise<void> }>;
  /** Resolves when `happened` gives something else than undefined or false; polled. */
  until<T>(what: string, happened: () => Promise<T | undefined | false> | T | undefined | false): Promise<T>;
  /** Resolves with the first such event since the play began. */
  event(what: string, matches: (event: HistoryEvent) => boolean): Promise<HistoryEvent>;
  sleep(ms: number): Promise<void>;
  /** Throws, with what was to be true. */
  check(what: string, isTrue: boolean): void;
}

/** A lock client on the stage. An answer of unknown outcome ends its process; the next operation is another one's. */
export interface StageClient {
  /** Its slot: what faults and plans call it. */
  readonly name: string;
  /** Of its host. */
  readonly address: string;
  /** `waitMs`: 0 unless given; `cancelAfterMs`: its caller gives up after so long, as in an instruction. */
  acquire(
    key: string,
    options?: { leaseMs?: number; waitMs?: number; mode?: LockMode; cancelAfterMs?: number },
  ): Promise<OperationOutcome>;
  extend(hold: OperationOutcome, leaseMs?: number): Promise<OperationOutcome>;
  release(hold: OperationOutcome): Promise<OperationOutcome>;
  read(hold: OperationOutcome): Promise<OperationOutcome>;
  write(hold: OperationOutcome, value: number): Promise<OperationOutcome>;
  /** Ends its work under the hold, without releasing it. */
  abandon(hold: OperationOutcome): Promise<void>;
  /**
   * Carries out what `operation` asks of this client until the lock reaches `step`, and stops the process there: it is paused, as
   * by the fault, until `resume`. `answer` is the operation's own.
   */
  stopAt(
    step: string,
    operation: (client: StageClient) => Promise<OperationOutcome>,
  ): Promise<{ answer: Promise<OperationOutcome>; resume(): Promise<void> }>;
  /** As `stopAt`, and kills the process there. Resolves when it is dead; another comes up in its place. */
  crashAt(step: string, operation: (client: StageClient) => Promise<OperationOutcome>): Promise<void>;
}

export type OperationOutcome = Extract<Outcome, { id: number }>;
