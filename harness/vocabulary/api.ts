/**
 * The vocabulary of lock-torture: types only, no code. Every folder may import this file, and most import nothing else.
 *
 * Time. `...Ns` is CLOCK_MONOTONIC in integer nanoseconds since the run's epoch: every host of a run shares one kernel
 * and so one monotonic clock, which no fault touches. `...WallMs` is a wall clock (CLOCK_REALTIME) in milliseconds
 * since 1970, which faults do change. On the wire between harness and lock client, stamps are raw CLOCK_MONOTONIC
 * nanoseconds (what `process.hrtime`, Python's `time.monotonic_ns` and Go's `unix.ClockGettime` give); the harness
 * subtracts the epoch before it records them.
 */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import type { MonitoredCommand, Monitoring } from '../topologies/monitor.js';

// ---------------------------------------------------------------------------------------------- time and randomness

/** Time as a parameter: real under `netns`, virtual in a simulation. Nothing above `runtimes/` reads a clock itself. */
export interface Clock {
  /** Nanoseconds since the run's epoch, monotonic. */
  nowNs(): number;
  /** The machine's own wall clock, milliseconds since 1970. */
  wallMs(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts (it never rejects; look at the signal if it matters). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness as a parameter. The same seed and the same forks give the same numbers. */
export interface Random {
  /** An integer in [min, max], both included. */
  int(min: number, max: number): number;
  /** A number in [0, 1). */
  float(): number;
  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T;
  /** An independent stream that depends on this one's seed and on `label` only, not on how much was drawn. */
  fork(label: string): Random;
}

// ------------------------------------------------------------------------------------------------ hosts and runtimes

export interface ExecResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process on a host. */
export interface HostProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<ProcessExit>;
  signal(signal: NodeJS.Signals): void;
  /** Read from the kernel, not from memory: this is what proves a kill or a pause. */
  state(): Promise<'running' | 'stopped' | 'dead'>;
}

export interface SpawnOptions {
  env?: Record<string, string>;
  /** Working directory; the host's own folder unless given. */
  cwd?: string;
  /** Standard error goes to `logs/<host>.log` of the run; with this, standard output too. */
  logStdout?: boolean;
}

/** A clock's distance from the machine's: offset now, and how much it gains each second (drift). */
export interface ClockSkew {
  offsetMs: number;
  /** Parts per million gained against the machine's clock; 0 for a jump. */
  ratePpm: number;
}

/**
 * A place with its own network identity in which commands run. A Redis node, a Sentinel and a lock client are
 * processes on hosts; a fault is a command on a host.
 */
export interface Host {
  readonly name: string;
  /** IPv4 address in the run's private network. */
  readonly address: string;
  /** The host's own folder below the run's folder, created. */
  readonly folder: string;
  /** Runs a command to its end. `argv` is never given to a shell. Rejects only if it could not be started or timed out. */
  exec(argv: readonly string[], options?: { timeoutMs?: number; cwd?: string }): Promise<ExecResult>;
  /** Starts a long-running process, with the host's (possibly skewed) clock. */
  spawn(argv: readonly string[], options?: SpawnOptions): HostProcess;
  /** Writes a file below the host's folder and resolves with its path as processes of the host see it. */
  writeFile(name: string, data: string): Promise<string>;
  /** Opens a unix socket, named relative to the host's folder, through a channel that no fault cuts. */
  dial(socketPath: string): Promise<Duplex>;
  /** Sets the wall clock that processes of this host see. Rejects where `Runtime.unavailable.clock` is set. */
  setClock(skew: ClockSkew): Promise<void>;
}

/** What a fault may need of a runtime. */
export type Capability = 'clock' | 'network' | 'process';

/** Makes hosts; disposing it ends every process and removes every host. */
export interface Runtime extends AsyncDisposable {
  readonly name: string;
  readonly clock: Clock;
  /** Capabilities that cannot be had here, each with the reason and the remedy. */
  readonly unavailable: Partial<Record<Capability, string>>;
  /** An address of the private network that no host has: for a virtual IP. */
  readonly spareAddress: string;
  createHosts(names: readonly string[]): Promise<Host[]>;
}

// -------------------------------------------------------------------------------------------------------- topologies

export type Persistence = 'none' | 'rdb' | 'aof-everysec' | 'aof-always';

export interface TopologyOptions {
  nodes: number;
  persistence: Persistence;
  /** `min-replicas-to-write` of every primary; 0: a primary needs nobody. */
  minReplicasToWrite: number;
  /** `maxmemory-policy` of every data node; absent: the server's own (noeviction). */
  maxmemoryPolicy?: string;
  /** What every node and Sentinel asks for; absent: nothing. */
  password?: string;
  /** Extra `redis.conf` directives, applied last to every Redis node (not to Sentinels). */
  redisConf: readonly (readonly [key: string, value: string])[];
}

/** One redis-server process, data node or Sentinel, on a host of its own. */
export interface RedisNode {
  readonly name: string;
  readonly kind: 'redis' | 'sentinel';
  readonly host: Host;
  readonly port: number;
  /** The process that runs now or ran last. */
  readonly process: HostProcess;
  /** Starts the server again with what is on its disk; resolves when it answers PING. Rejects if it does not in time. */
  start(): Promise<void>;
  /** Removes everything the server has on its disk. The server must be dead. */
  forget(): Promise<void>;
  /** One command through the channel that no fault cuts; bounded in time. Rejects when the server is dead or stopped. */
  command(...argv: (string | number)[]): Promise<unknown>;
  /** Follows every command that the server runs, in its order (MONITOR), through that channel. */
  monitor(onCommand: (command: MonitoredCommand) => void): Promise<Monitoring>;
  /** Follows one of the server's pub/sub channels, through that channel. Resolves once it is subscribed. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<Monitoring>;
}

/** What a lock client is told about the deployment: plain data, `init`'s `topology`. */
export type TopologyDescription = (
  | { kind: 'single'; node: Endpoint }
  /** `node` is the virtual address, behind which the primary is. */
  | { kind: 'replica'; node: Endpoint }
  | { kind: 'sentinel'; masterName: string; sentinels: Endpoint[] }
  /** Any of `nodes` tells a Cluster client the rest. */
  | { kind: 'cluster'; nodes: Endpoint[] }
  | { kind: 'redlock'; nodes: Endpoint[] }
) & {
  /** What every server asks for; absent: nothing. */
  password?: string;
};

export interface Endpoint {
  name: string;
  host: string;
  port: number;
}

/** A setting that differs from what the server does by default, and why; shown in every report. */
export interface Setting {
  where: string;
  name: string;
  value: string;
  why: string;
}

/** Nodes that hold the same data: one that takes writes, and those that replicate from it. */
export interface Shard {
  readonly primary: RedisNode;
  /** All others that belong to it, whatever state they are in. */
  readonly replicas: readonly RedisNode[];
  /** Whether commands on this key belong here. */
  serves(key: string): boolean;
}

/** A running deployment. Disposing stops every server of it. */
export interface Topology extends AsyncDisposable {
  readonly name: string;
  /** Data nodes. */
  readonly nodes: readonly RedisNode[];
  readonly sentinels: readonly RedisNode[];
  /** Hosts of those who decide, beside the data nodes, that a primary is to be replaced: Sentinels, a failover manager. */
  readonly watchers: readonly Host[];
  readonly settings: readonly Setting[];
  /** True where the data nodes replicate from a primary (so `primary`, `replica`, `lag` and `failover` mean something). */
  readonly replicated: boolean;
  /**
   * What a primary that was replaced but still runs does to its clients: it `keeps` them until it hears of its
   * successor, or they `leave` it at once (a virtual IP moved away; a Cluster node that is cut off stops writing).
   */
  readonly replacedPrimary: 'keeps' | 'leave';
  describe(): TopologyDescription;
  /**
   * Asked of the servers, never remembered: the shards on whose primary the deployment agrees. One for a replicated
   * deployment, several for a Cluster; empty where there is no such thing, or while nobody is agreed on.
   */
  shards(): Promise<Shard[]>;
  /** What is still missing until the deployment is ready, in words; empty when it is. Observed from the servers. */
  missing(): Promise<string[]>;
}

export interface TopologyKind {
  readonly name: string;
  readonly summary: string;
  readonly defaultLock: string;
  readonly replicated: boolean;
  /** The usual time from a primary's death to its replacement, where there is failover; milliseconds. */
  readonly expectedFailoverMs?: number;
  /** Names of the hosts that `start` needs. */
  hosts(options: TopologyOptions): { nodes: string[]; sentinels: string[]; managers: string[] };
  /** Starts every server on `hosts` (nodes first, then Sentinels, then managers) and resolves when observed ready; rejects with what is missing after a time-out. */
  start(hosts: readonly Host[], options: TopologyOptions, context: TopologyContext): Promise<Topology>;
}

export interface TopologyContext {
  clock: Clock;
  /** argv prefix and environment that run redis-server (the unpacked one needs its library path). */
  redis: RedisBinary;
  /** An address that no host has. */
  spareAddress: string;
  readyTimeoutMs: number;
  /** One line for people: what a failover manager did. */
  say(line: string): void;
}

export interface RedisBinary {
  path: string;
  env: Record<string, string>;
  version: string;
  /** Where it came from, for people: `--redis`, `PATH`, `downloaded`. */
  origin: string;
}

// ------------------------------------------------------------------------------------------- the lock client protocol

/** What the harness sends, one JSON object a line. */
export type Request =
  | { id: number; op: 'init'; topology: TopologyDescription; options: ClientOptions }
  /** `mode` only for a lock that has it (feature `shared`): `read` shares. */
  | ({ id: number; op: 'acquire'; key: string; leaseMs: number; waitMs: number; mode?: LockMode } & Stoppable)
  | ({ id: number; op: 'extend'; hold: number; leaseMs: number } & Stoppable)
  | ({ id: number; op: 'release'; hold: number } & Stoppable)
  /**
   * Reads or writes what the lock protects, at `options.resource`: the value kept under the hold's key. Optional (feature
   * `resource`), and asked only of clients of a workload that has a resource.
   */
  | { id: number; op: 'read'; hold: number }
  | { id: number; op: 'write'; hold: number; value: number }
  /** Reads the client's own wall clock: the proof that a skewed clock reached the program. Optional (feature `clock`). */
  | { id: number; op: 'clock' };

/** What a scenario may ask of an operation. */
export interface Stoppable {
  /** A step of the lock (`TopologyAccess.step`) at which the process stops itself, as SIGSTOP does. Feature `stop-at`. */
  stopAt?: string;
}

export interface ClientOptions {
  client: string;
  leaseMs: number;
  /** Longest time that one Redis command may take before the lock gives up on it. */
  commandTimeoutMs: number;
  seed: number;
  /** The server of what the lock protects, where the workload has one (`harness/resource/`). */
  resource?: Endpoint;
}

/** What a client answers, one JSON object a line; `began` and `ended` are raw CLOCK_MONOTONIC nanoseconds. */
export type Response =
  | { id: number; type: 'ok'; began?: number; ended?: number; value?: unknown }
  | { id: number; type: 'fail'; began?: number; ended?: number; reason: string }
  | { id: number; type: 'info'; began?: number; ended?: number; reason: string };

/** What a client may say unasked. `hold` is the id of the acquire that granted it; `at` raw nanoseconds. */
export type Notice =
  /** A background renewal succeeded; `at` is when the renewal was sent. */
  | { type: 'renewed'; hold: number; at: number; leaseMs?: number }
  /** The library noticed that it no longer holds. */
  | { type: 'lost'; hold: number; at: number; reason?: string }
  /** A named point inside the lock's own code, at which a scenario can strike. */
  | { type: 'step'; name: string; at: number; hold?: number };

export interface HandshakeValue {
  lock: string;
  features: string[];
  /** Topologies on which the lock makes sense; absent: any. */
  topologies?: string[];
  /** What it promises; absent: one owner at a time. */
  model?: LockModel;
}

export interface AcquireValue {
  /** A fencing token, where the lock gives one. */
  token?: number;
  /** How long the lock says the grant is good for, counted from `ended`; absent: it does not say. */
  validForMs?: number;
  /** When the attempt that was granted left the client; the lease runs from here. Absent: `began` is taken. */
  grantSent?: number;
}

/** Of a read or write that the resource took. */
export interface AccessValue {
  /** Of a read: what was stored; 0 before the first write. */
  value?: number;
  /** How many writes the resource had taken of this key by then, this one included: its own order. */
  version: number;
}

export interface ExtendValue {
  validForMs?: number;
  /** When the successful extension left the client. Absent: `began` is taken. */
  sent?: number;
}

// ------------------------------------------------------------------------------- what a lock author writes (TypeScript)

export interface LockDefinition {
  name: string;
  /** Topologies on which this lock makes sense; absent: any. */
  topologies?: readonly string[];
  /** What it can do beyond acquire and release: `extend`, `fencing`, `renews`, `shared`, ... */
  features?: readonly string[];
  /** What it promises; absent: one owner at a time. */
  model?: LockModel;
  connect(topology: TopologyAccess): Promise<LockClient>;
}

export interface LockClient {
  /** A hold, or null: certainly not held (to say why, throw `refused(reason)`). Throws when it cannot tell. */
  acquire(key: string, options: AcquireOptions): Promise<LockHold | null>;
  close?(): Promise<void>;
}

export interface AcquireOptions {
  leaseMs: number;
  /** How long to wait for a lock that somebody else holds; 0: one try. */
  waitMs: number;
  /** Of a read-write lock: `read` shares it with others that do. Absent: exclusive. */
  mode?: LockMode;
  /** Aborts when the harness gives up on the operation. */
  signal: AbortSignal;
}

export interface LockHold {
  /** Resolves when released; return false for "was not ours any more"; throw when it cannot tell. */
  release(): Promise<void | boolean>;
  /** Starts a new lease; return null when certainly not extended. Throws when it cannot tell. */
  extend?(leaseMs: number): Promise<{ validForMs?: number } | null>;
  token?: number;
  validForMs?: number;
  /** Overrides the harness's own stamp of the granted attempt: raw CLOCK_MONOTONIC ns (`access.nowNs()`). */
  grantSentNs?: number;
  /** Aborts when the library notices that it no longer holds. */
  lost?: AbortSignal;
}

/** How a lock reaches Redis. Every client from here is ready, is stamped, never resends and is bounded in time. */
export interface TopologyAccess {
  readonly description: TopologyDescription;
  readonly options: ClientOptions;
  /**
   * The one logical server: the node itself, the primary behind the virtual IP or found through Sentinel, or a Cluster
   * client (which takes the same commands; all keys of one must be in one slot). Throws on `redlock`.
   */
  redis(): Promise<Redis>;
  /** Clients of all independent nodes (`redlock`); one client on `single`. Throws elsewhere. Nodes may be down. */
  nodes(): Promise<Redis[]>;
  /** Raw CLOCK_MONOTONIC nanoseconds. */
  nowNs(): number;
  /** The process' own wall clock, milliseconds since 1970, which faults skew: for locks that take it for the truth. */
  wallMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A random value that nobody else has: 160 bits, hex. */
  randomValue(): string;
  /**
   * Calls `heard` for every message that is published on `channel`, from when it resolves until the result is called. All
   * channels share one connection of their own, which comes back by itself; what was published meanwhile is lost. Nothing
   * that goes over it counts as an operation's. Rejects when the server does not confirm in time. Throws on `redlock`.
   */
  listen(channel: string, heard: (message: string) => void): Promise<() => void>;
  /** Marks a point inside the lock at which a scenario can strike. */
  step(name: string): Promise<void>;
  /** Tells the harness that a background renewal of the grant of `key` succeeded; `sentNs`: when it was sent. */
  renewed(hold: LockHold, sentNs: number, leaseMs: number): void;
}

// ----------------------------------------------------------------------------------------------------------- history

/** `read` and `write` go to a resource that the lock protects, under a hold. */
export type OpName = 'acquire' | 'release' | 'extend' | 'clock' | 'read' | 'write';

/**
 * One line of `history.jsonl`. `i` is the line number from 0; `atNs` is when the harness sent, read or did it. The
 * history never changes once written, and is all that the verdict depends on together with `observations.jsonl`.
 */
export type HistoryEvent = { i: number; atNs: number } & HistoryBody;

export type HistoryBody =
  | { type: 'run'; version: 1; runId: string; seed: number; epochWallMs: number }
  /** What was really started, as the servers tell it. */
  | { type: 'deployment'; topology: string; runtime: string; serverVersion: string; settings: Setting[] }
  | { type: 'phase'; phase: Phase }
  /** A client process came up (after its handshake). `slot` names the place that it fills: c1, c1.2, c1.3 share slot c1. */
  | {
      type: 'client-up';
      client: string;
      slot: string;
      host: string;
      address: string;
      lock: string;
      features: string[];
      /** What the lock promises, where it said so. */
      model?: LockModel;
    }
  /**
   * A client process is gone. `endNs` is the last instant at which it may still have acted (before the kill was sent,
   * or when its death was noticed if nobody sent one): its holds end there.
   */
  | { type: 'client-down'; client: string; endNs: number; reason: string }
  | {
      type: 'invoke';
      client: string;
      id: number;
      op: OpName;
      key: string;
      hold?: number;
      leaseMs?: number;
      waitMs?: number;
      /** Of an acquire of a read-write lock: `read` shares. Absent: exclusive. */
      mode?: LockMode;
      /** Of a write: what is to be stored. */
      value?: number;
    }
  | ({ type: 'ok' | 'fail' | 'info'; client: string; id: number; op: OpName; key: string; hold?: number } & Completion)
  | { type: 'renewed'; client: string; hold: number; key: string; sentNs: number; leaseMs: number }
  | { type: 'lost'; client: string; hold: number; key: string; clientNs: number; reason?: string }
  | { type: 'step'; client: string; name: string; clientNs: number; hold?: number }
  /** A fault's life: `strike` when it was done and read back, `refused`/`failed` when it was not, `heal` when undone. */
  | ({ type: 'fault' } & FaultRecord)
  /** Something about the machine or the harness that a verdict must know of. */
  | { type: 'disturbance'; disturbance: 'harness-stall' | 'wall-clock-step'; ms: number; beganNs: number }
  | { type: 'recovered'; afterMs: number; missing: string[] }
  /** The liveness probe's result for one key. */
  | { type: 'probe'; key: string; client: string; acquired: boolean; afterMs: number; reason?: string };

export type Phase = 'warm-up' | 'torture' | 'heal' | 'recovery' | 'probe' | 'end';

export interface Completion {
  /** The client's own stamps; absent where the client does not stamp or never answered. */
  beganNs?: number;
  endedNs?: number;
  reason?: string;
  /** Of an acquire. */
  token?: number;
  validForMs?: number;
  grantSentNs?: number;
  /** Of an extend: when the successful extension was sent. */
  sentNs?: number;
  /** Of a clock reading. */
  wallMs?: number;
  /** Of a read: what was stored. */
  value?: number;
  /** Of a read or write: how many writes the resource had taken by then, this one included. Its own order. */
  version?: number;
}

export type LockMode = 'read' | 'write';

/** Events of which a run has few, whatever its length; they are kept as they are. */
export type RareEvent = Extract<
  HistoryEvent,
  {
    type:
      | 'run'
      | 'deployment'
      | 'phase'
      | 'client-up'
      | 'client-down'
      | 'fault'
      | 'disturbance'
      | 'recovered'
      | 'probe';
  }
>;

/**
 * A run's whole history in memory, as the checkers get it. Operations and notices, of which a long run has millions, are
 * kept in columns; `event` and `all` make an event from them when it is asked for.
 */
export interface History {
  /** How many events there are: the lines of `history.jsonl`. */
  readonly length: number;
  /** The event on line `i`, from 0; undefined if there is no such line. */
  event(i: number): HistoryEvent | undefined;
  /** Every event in order, each made as it is reached. Prefer `rare` or the columns where they will do. */
  all(): Iterable<HistoryEvent>;
  /** All events but operations and notices, in order. */
  readonly rare: readonly RareEvent[];
  readonly operations: Operations;
  readonly notices: Notices;
  /** When the last event was recorded. */
  readonly endNs: number;
  /** True when the last line was torn (the harness was killed while writing); that line is left out. */
  readonly torn: boolean;
}

/**
 * Every operation, one row each, in the order of their invokes. A number that was not recorded is NaN, an index -1. Columns
 * may be longer than `count`. The codes of `op`, `outcome` and `mode` are in `harness/record/history-table.ts`.
 */
export interface Operations {
  readonly count: number;
  /** Names, by what `client`, `key` and `reason` hold. */
  readonly clients: readonly string[];
  readonly keys: readonly string[];
  readonly reasons: readonly string[];
  readonly client: Int32Array;
  readonly key: Int32Array;
  readonly op: Uint8Array;
  readonly mode: Uint8Array;
  /** `none` where no outcome was recorded: the client never answered. */
  readonly outcome: Uint8Array;
  readonly reason: Int32Array;
  /** The row of the acquire whose hold it is about. */
  readonly hold: Int32Array;
  readonly invokeLine: Int32Array;
  readonly completionLine: Int32Array;
  /** The operation's id, which is its client's own. */
  readonly id: Float64Array;
  /** When the harness sent it, and read the answer. */
  readonly sentNs: Float64Array;
  readonly readNs: Float64Array;
  /** The client's own stamps. */
  readonly beganNs: Float64Array;
  readonly endedNs: Float64Array;
  /** `grantSentNs` of an acquire, `sentNs` of an extend. */
  readonly leaseFromNs: Float64Array;
  readonly leaseMs: Float64Array;
  readonly waitMs: Float64Array;
  readonly validForMs: Float64Array;
  readonly token: Float64Array;
  /** Of a write what it stores, of a read what it found, of a clock reading `wallMs`. */
  readonly value: Float64Array;
  readonly version: Float64Array;
}

/** Every notice (`renewed`, `lost`, `step`), one row each, in order; kept like `Operations`. */
export interface Notices {
  readonly count: number;
  /** Names of steps and reasons of losses, by what `text` holds. */
  readonly texts: readonly string[];
  readonly type: Uint8Array;
  readonly line: Int32Array;
  /** Index into the operations' `clients`. */
  readonly client: Int32Array;
  /** The row of the acquire that it is about. */
  readonly hold: Int32Array;
  readonly text: Int32Array;
  /** When the harness read it. */
  readonly atNs: Float64Array;
  /** The client's own stamp: when the renewal was sent, the loss noticed, the step reached. */
  readonly clientNs: Float64Array;
  readonly leaseMs: Float64Array;
}

// ------------------------------------------------------------------------------------------------------ observations

/** One line of `observations.jsonl`: what a *server* believed. Only ever used to say why, never to accuse. */
export type Observation = { atNs: number; node: string } & ObservationBody;

export type ObservationBody =
  /**
   * A command on one of the run's keys, in the server's own order (MONITOR). `client` is the lock client process whose
   * address sent it (absent: a script's inner command, the replication link, or somebody unknown; see `source`).
   */
  | { type: 'command'; serverWallMs: number; source: string; client?: string; argv: string[] }
  | {
      type: 'sample';
      role: 'primary' | 'replica' | 'unknown';
      /** Replication offset; and, on a replica, whether its link to the primary is up. */
      offset: number;
      linkUp?: boolean;
      /** A new run id means a restarted process. */
      runId: string;
      /** The server's wall clock minus the machine's, milliseconds. */
      skewMs: number;
      /** Each workload key that exists: what is stored (a string, or a hash as JSON) and its PTTL (-1: no expiry). */
      keys: Record<string, { owner: string; pttlMs: number }>;
    }
  /** The server threw a key of the run away because its memory was full (a keyspace event). */
  | { type: 'evicted'; key: string }
  /** The observer's own channel: while it is down (dead or stopped server) commands may be missed. */
  | { type: 'watch'; watching: boolean; reason?: string };

export type CommandObservation = Extract<Observation, { type: 'command' }>;
export type RareObservation = Exclude<Observation, CommandObservation>;

/** All observations of a run. Commands, of which a long run has millions, are read when they are asked for. */
export interface Observations {
  /** How many there are: the lines of `observations.jsonl`. */
  readonly length: number;
  /** The observation on line `i`, from 0; undefined if there is no such line. */
  line(i: number): Observation | undefined;
  /** All but commands, each with its line, in order. */
  readonly rare: readonly (readonly [line: number, RareObservation])[];
  readonly commandCount: number;
  /** Commands read by the harness within the bounds (both included), each with its line, in order. */
  commands(fromNs: number, untilNs: number): Iterable<readonly [line: number, CommandObservation]>;
}

// ----------------------------------------------------------------------------------------------------------- nemesis

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

export type When =
  /** Milliseconds after the torture phase began. */
  | { atMs: number }
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

export interface FaultRecord {
  /** Index of the step in the plan. */
  step: number;
  fault: string;
  state: 'strike' | 'phase' | 'heal' | 'refused' | 'failed';
  /** Whom it resolved to: host names of nodes and Sentinels, client process names. */
  targets: string[];
  /** What was done, in words: "SIGKILL to r1", "cut r1 -x- r2, r3, s1". */
  did: string;
  /** What was read back to prove it, in words; `failed` says what was read instead. */
  proof?: string;
  /** Wall-clock offset given to the targets, for clock faults. */
  offsetMs?: number;
  /** Parts per million that the targets' clocks gain from this record on, `offsetMs` being what they had gained by then. */
  ratePpm?: number;
  /** Directed pairs of host names whose traffic is cut, for network faults. */
  cut?: [from: string, to: string][];
  /** Nodes that lost their memory through it. */
  forgot?: string[];
}

/** A lock client as a fault sees it. */
export interface ClientTarget {
  readonly name: string;
  readonly slot: string;
  readonly host: Host;
  readonly process: HostProcess;
  /** Keys held right now, as far as the harness knows. */
  readonly holding: readonly string[];
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
  readonly leaseMs: number;
  /** Says what a killed server has forgotten when it comes back. */
  readonly persistence: Persistence;
  /** The client processes alive now. */
  clients(): readonly ClientTarget[];
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
  unfit(topology: { name: string; replicated: boolean; maxmemoryPolicy?: string }): string | undefined;
  /**
   * Strikes: resolves once the fault is in force *and read back*. Rejects with a FaultRefusal, or with an Error where
   * it was tried and the read-back does not show it (recorded as `failed`). Nothing is left in force by a rejection.
   */
  strike(step: PlanStep, context: FaultContext): Promise<ActiveFault>;
}

// --------------------------------------------------------------------------------------------------------- workloads

export interface WorkloadOptions {
  keys: readonly string[];
  leaseMs: number;
  waitMs: number;
  /** Bounds of how long a client works under the lock, in parts of the lease. */
  hold: { min: number; max: number };
  /** Careless clients ignore the validity that the lock told them, and `lost`. */
  careless: boolean;
}

/** What a client is to do next. `idle` ends early when `until` names a hold and that hold is reported lost. */
export type Instruction =
  | ({ do: 'acquire'; key: string; leaseMs: number; waitMs: number; mode?: LockMode } & Stoppable)
  | ({ do: 'extend'; hold: number; leaseMs: number } & Stoppable)
  | ({ do: 'release'; hold: number } & Stoppable)
  /** Of what the lock protects; only in a workload with a resource. */
  | { do: 'read'; hold: number }
  | { do: 'write'; hold: number; value: number }
  /** Work under it is over, though it is not released yet: recorded as `lost`, which ends the hold. */
  | { do: 'abandon'; hold: number }
  | { do: 'idle'; ms: number; untilLost?: number };

/** How an instruction ended, as the script sees it. */
export type Outcome =
  | ({ type: 'ok' | 'fail' | 'info'; id: number } & Completion)
  /** After `idle` and `abandon`. */
  | { type: 'woke'; lost: boolean };

/** A client's behaviour: yields instructions, is sent their outcomes. Pure; ends when it returns. */
export type ClientScript = Generator<Instruction, void, Outcome>;

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** What one client does. `lock` is what the lock says of itself. */
  script(options: WorkloadOptions, random: Random, lock: HandshakeValue): ClientScript;
  /** Names of the checkers that judge it, in order. */
  readonly checkers: readonly string[];
  /** What its clients take the lock for. */
  readonly model: LockModel;
  /** Features of which the lock must have one, or the workload cannot be done with it. */
  readonly needs?: readonly string[];
  /** Whether its clients read and write a resource that the lock protects. */
  readonly resource?: true;
  /** What a run takes where its flags do not say. */
  readonly defaults?: WorkloadDefaults;
}

export interface WorkloadDefaults {
  /** Where the topology is one that the lock is for. */
  lock?: string;
  /** As for `--nemesis`. */
  nemesis?: string;
  clients?: number;
  keys?: number;
  leaseMs?: number;
  waitMs?: number;
  hold?: { min: number; max: number };
  careless?: boolean;
  resource?: ResourceMode;
}

/** Whether the protected resource looks at fencing tokens: `checking` refuses one that is older than the newest it saw. */
export type ResourceMode = 'trusting' | 'checking';

/** What a lock promises, as far as a history can show it. */
export type LockModel =
  | { kind: 'mutex' }
  /** The owner may take it again, up to `depth` times at once. */
  | { kind: 'reentrant'; depth: number }
  | { kind: 'read-write' }
  | { kind: 'semaphore'; permits: number }
  /** A mutex whose grants carry rising tokens. */
  | { kind: 'fenced' }
  /** A mutex that is granted in the order in which clients were queued. */
  | { kind: 'fair' };

// --------------------------------------------------------------------------------------------------------- scenarios

/** A claim about locks, and the play that proves or refutes it on real servers. */
export interface Scenario {
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
  /** Checkers beside those of exclusion and liveness. */
  readonly judgedBy?: readonly string[];
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
  /** `waitMs`: 0 unless given. */
  acquire(key: string, options?: { leaseMs?: number; waitMs?: number; mode?: LockMode }): Promise<Answer>;
  extend(hold: Answer, leaseMs?: number): Promise<Answer>;
  release(hold: Answer): Promise<Answer>;
  read(hold: Answer): Promise<Answer>;
  write(hold: Answer, value: number): Promise<Answer>;
  /** Ends its work under the hold, without releasing it. */
  abandon(hold: Answer): Promise<void>;
  /**
   * Carries out what `operation` asks of this client until the lock reaches `step`, and stops the process there: it is paused, as
   * by the fault, until `resume`. `answer` is the operation's own.
   */
  stopAt(
    step: string,
    operation: (client: StageClient) => Promise<Answer>,
  ): Promise<{ answer: Promise<Answer>; resume(): Promise<void> }>;
  /** As `stopAt`, and kills the process there. Resolves when it is dead; another comes up in its place. */
  crashAt(step: string, operation: (client: StageClient) => Promise<Answer>): Promise<void>;
}

export type Answer = Extract<Outcome, { id: number }>;

// ---------------------------------------------------------------------------------------------------------- verdicts

export type ViolationClass = 'exclusion' | 'stale' | 'harm' | 'liveness';

/**
 * The time during which one client acted as the holder, and what its lease covered. All in ns since the epoch.
 * `[fromNs, leaseEndNs)` is held with a running lease, `[leaseEndNs, untilNs)` (if any) is stale.
 */
export interface Hold {
  client: string;
  key: string;
  /** Id of the acquire. */
  id: number;
  /** Acquire's `ended`. */
  fromNs: number;
  /** The earliest of release began, client killed, `lost`; the history's end if none. */
  untilNs: number;
  endedBy: 'release' | 'client-down' | 'lost' | 'history-end';
  /** Last successful grant or renewal sent + lease. */
  leaseEndNs: number;
  grantSentNs: number;
  leaseMs: number;
  /** As asked for; absent: exclusive. */
  mode?: LockMode;
  token?: number;
  validForMs?: number;
  /** History indexes of everything that made it: acquire invoke and ok, renewals, release invoke, client-down. */
  evidence: number[];
  /** Result of the release, where it is known. */
  released?: 'ok' | 'fail' | 'info';
}

export type CauseName =
  | 'failover-lost-write'
  | 'node-forgot'
  | 'clock-jumped'
  | 'released-by-other'
  | 'client-paused'
  | 'client-cut-off'
  | 'client-slow'
  | 'granted-late'
  | 'unexplained'
  | (string & {});

/** Why it happened, as a chain of evidence; each link says when, who and which line shows it. */
export interface Cause {
  name: CauseName;
  /** One sentence for people. */
  sentence: string;
  chain: CauseLink[];
}

export interface CauseLink {
  atNs: number;
  text: string;
  /** History line, or line of observations.jsonl. */
  history?: number;
  observation?: number;
}

export interface Violation {
  class: ViolationClass;
  /** `overlap`, `deadlock`, ... */
  kind: string;
  key: string;
  /** The overlap itself; for other kinds both bounds of what was wrong. */
  fromNs: number;
  untilNs: number;
  /** The two holds of an overlap, earlier grant first; of one more than there are permits, all. */
  holds: Hold[];
  /** History indexes. */
  evidence: number[];
  /** The proof in one sentence. */
  proof: string;
  cause: Cause;
}

/** What one checker found. A checker is a pure function. */
export interface CheckerResult {
  checker: string;
  verdict: 'valid' | 'invalid' | 'unknown';
  /** Why it is unknown, or which procedure decided. */
  notes: string[];
  violations: Violation[];
  /** How many there are of each class, where `violations` has only the first of them; absent: it has all. */
  found?: Partial<Record<ViolationClass, number>>;
  /** Counters for the report. */
  stats: Record<string, number>;
  /** What was measured; never decides. */
  measurements?: Measurement[];
}

/** A history's verdict under one reading of what such histories leave open. */
export interface ReadingResult {
  /** `strict`, `lease`, ... */
  reading: string;
  /** For people. */
  title: string;
  verdict: 'valid' | 'invalid' | 'unknown';
  /** Which procedures decided. */
  procedure: string;
  /** How many findings there are, pair by pair, over all keys. */
  found: number;
  /** The first of them, a sentence each. */
  proofs: string[];
  notes: string[];
}

/** One thing that was measured, for tables and plots. */
export interface Measurement {
  /** `recovery`, `availability`, `latency`, `loss-to-notice`, ... */
  name: string;
  /** Whom or what it is about, for people: "failover of r1 (step 2 of the plan)", "acquires that were refused". */
  of: string;
  key?: string;
  /** The time that it is about, where it is not the whole run. */
  fromNs?: number;
  untilNs?: number;
  /** By name with the unit last: `p99Ms`, `count`, `availablePercent`. */
  values: Record<string, number>;
  /** History lines, or none where they would be too many. */
  evidence: number[];
}

export interface CheckInput {
  history: History;
  observations: Observations;
  config: RunConfig;
  plan: Plan;
  model: LockModel;
}

export type Checker = (input: CheckInput) => CheckerResult;

export interface Results {
  version: 1;
  runId: string;
  verdict: 'held' | 'violated' | 'unknown';
  exitStatus: 0 | 1 | 2;
  /** One sentence. */
  headline: string;
  /** Why unknown, what weakens the verdict, what was left out. */
  reasons: string[];
  violations: Violation[];
  checkers: CheckerResult[];
  /** Violations by class, all of them, failing or not. */
  found: Partial<Record<ViolationClass, number>>;
  /** Whether it can be explained at all, under each reading of what histories leave open. Beside the verdict; decides nothing. */
  readings: ReadingResult[];
  /** How much a pass is worth: "0 of 41 struck holds; at most 7 % at 95 %". */
  strength?: string;
  stats: Record<string, number>;
  /** The command that runs it again. */
  again: string;
}

// ------------------------------------------------------------------------------------------------------------- a run

/** Everything that decides what a run does: `config.json`. */
export interface RunConfig {
  version: 1;
  runId: string;
  startedAt: string;
  seed: number;
  topology: string;
  topologyOptions: TopologyOptions;
  runtime: string;
  /** As the user gave it; a file is relative to `cwd`. */
  lock: string;
  /** Where the user stood when typing the command. */
  cwd: string;
  /** The run that this one repeats, if any: its id. */
  replayOf?: string;
  workload: string;
  clients: number;
  keys: string[];
  leaseMs: number;
  waitMs: number;
  hold: { min: number; max: number };
  careless: boolean;
  /** Of a workload that has one. */
  resource?: ResourceMode;
  timeLimitMs: number;
  /** Faults asked for, as given (`failover`, `pause:client`); empty for none. */
  nemesis: string[];
  nemesisIntervalMs: number;
  failOn: ViolationClass[];
  /** Whether it ends as soon as something that fails it is found. */
  stopAtFirst?: true;
  /** The scenario that is played, instead of a workload and a plan. */
  scenario?: string;
  redis: RedisBinary;
  /** The compiled clock shim; absent: clocks cannot be skewed (see `unavailable`). */
  clockShim?: string;
  /** Of the docker runtime: the images that the user chose, and what was built from them for hosts. */
  containers?: { image: string; clientImage: string; built: { server: string; client: string } };
  /** argv that starts one lock client process; the handshake tells its name. */
  clientArgv: string[];
  /** Capabilities missing on this machine, with remedies, as probed before the run. */
  unavailable: Partial<Record<Capability, string>>;
  /** The command line that repeats this run, without the seed of chance. */
  again: string;
}
