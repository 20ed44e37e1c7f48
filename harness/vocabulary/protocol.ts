/** What harness and lock client say to each other: one JSON object a line, either way. docs/protocol.md explains it. */
import type { Endpoint, TopologyDescription } from './topology.js';

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
  | { kind: 'fair' }
  /**
   * No lock: a latch that `count` clients count down once each, and that lets nobody pass before. To acquire it to write is to be one of
   * them, to release that is to count; to acquire it to read is to wait until it opens.
   */
  | { kind: 'latch'; count: number };

/**
 * When something that a client keeps on the servers ends by itself, if nothing more is heard of the client: after so many
 * milliseconds; after the `lease` that it asked for; or `never`.
 */
export type Deadline = number | 'lease' | 'never';

/** What of a client outlives it on the servers, and for how long. Absent: the lock does not say. */
export interface Deadlines {
  /** Of a place in the queue of those who wait, counted from when the client last showed that it waits. */
  place?: Deadline;
  /** Of one of several permits, counted from its grant or its last renewal. */
  permit?: Deadline;
}

/**
 * What ends a hold if its holder never does: the lease that was asked for (`timed`); the end of the client's session with the
 * service, which comes when nothing was heard of the client for as long as the lease that was asked for (`session`); or nothing
 * (`none`), as for a key that is stored without expiry.
 */
export type LeaseKind = 'timed' | 'session' | 'none';

export type LockMode = 'read' | 'write';

/** What the harness sends, one JSON object a line. */
export type Request =
  | {
      id: number;
      op: 'init';
      protocol?: 2;
      topology: TopologyDescription;
      options: ClientOptions;
    }
  /** `mode` only for a lock that has it (feature `shared`): `read` shares. */
  | ({ id: number; op: 'acquire'; key: string; leaseMs: number; waitMs: number; mode?: LockMode } & Stoppable & Called)
  | ({ id: number; op: 'extend'; hold: number; leaseMs: number } & Stoppable & Called)
  | ({ id: number; op: 'release'; hold: number } & Stoppable & Called)
  /** Whoever waits for the answer to that acquire waits no more. Only for a client that knows it (feature `cancel`). */
  | { id: number; op: 'cancel'; acquire: number }
  /**
   * Reads or writes what the lock protects, at `options.resource`: the value kept under the hold's key. Optional (feature
   * `resource`), and asked only of clients of a workload that has a resource.
   */
  | ({ id: number; op: 'read'; hold: number } & Called)
  | ({ id: number; op: 'write'; hold: number; value: number } & Called)
  /** Reads the client's own wall clock: the proof that a skewed clock reached the program. Optional (feature `clock`). */
  | { id: number; op: 'clock' };

/** What a scenario, or a plan that strikes at steps, may ask of an operation. */
export interface Stoppable {
  /** A step of the lock (`TopologyAccess.step`) at which the process stops itself, as SIGSTOP does. Feature `stop-at`. */
  stopAt?: string;
}

/** Of a client with several callers (feature `callers`): a thread or a task of the process. */
export interface Called {
  /** Which of them asks: a hold is its own, and nobody else's. Absent: there is but one. */
  caller?: string;
}

export interface ClientOptions {
  client: string;
  /** How many callers will ask at the same time; absent: one. */
  callers?: number;
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

/** A program that takes long to start may say so first, before it answers `init`: within so many milliseconds from then. */
export interface Starting {
  type: 'starting';
  withinMs: number;
}

export interface HandshakeValue {
  lock: string;
  features: string[];
  /** Topologies on which the lock makes sense; absent: any. */
  topologies?: string[];
  /** What it promises; absent: one owner at a time. */
  model?: LockModel;
  /** What ends a hold by itself; absent: its lease. */
  lease?: LeaseKind;
  /** When places and permits of a client end that is heard of no more. */
  deadlines?: Deadlines;
  /** For how long an operation may be without an answer on top of its wait, where that is long; absent: as the protocol says. */
  answersWithinMs?: number;
  /** Under which names it keeps a key on the servers, the one that tells who holds first; absent: under the key's own. */
  keys?: string[];
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

/** The reason of an `info` during whose operation a connection was lost: whatever the lock said of it does not count. */
export type SpansReconnect = 'reconnect';
