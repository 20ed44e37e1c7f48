/** What the author of a lock writes in TypeScript, and what the harness hands to it. */
import type { Redis } from 'ioredis';
import type { NodeRedis } from './node-redis.js';
import type { ClientOptions, Deadlines, LeaseKind, LockMode, LockModel } from './protocol.js';
import type { Random } from './time.js';
import type { TopologyDescription } from './topology.js';

export interface LockDefinition {
  name: string;
  /** Topologies on which this lock makes sense; absent: any. */
  topologies?: readonly string[];
  /** What it can do beyond acquire and release: `extend`, `fencing`, `renews`, `shared`, ... */
  features?: readonly string[];
  /** What it promises; absent: one owner at a time. */
  model?: LockModel;
  /** `none`: nothing ends a hold but its holder, whatever lease is asked for. Absent: its lease does. */
  lease?: LeaseKind;
  /** When a client's place in the queue, or its permit, ends if nothing more is heard of the client; absent: not known. */
  deadlines?: Deadlines;
  /**
   * Under which names it keeps a key on the servers, as in `['mutex:{key}']`, the one that tells who holds first. Absent: under
   * the key's own.
   */
  keys?: readonly string[];
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
  /** Which of several callers in this process asks, where there are several: what it is granted is nobody else's. */
  caller?: string;
  /**
   * Aborts when the caller waits no longer, or the harness gives up on the operation. Reject then, or return null, once
   * nothing of the try is left on a server.
   */
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
  /**
   * As `redis()`, by Redis' own package `redis` (version 5 or 6), which the user's project has. On a Cluster and with Sentinels
   * `sendCommand` takes other arguments, as in that package. Throws on `redlock`.
   */
  nodeRedis(): Promise<NodeRedis>;
  /** Clients of all independent nodes (`redlock`); one client on `single`. Throws elsewhere. Nodes may be down. */
  nodes(): Promise<Redis[]>;
  /** Raw CLOCK_MONOTONIC nanoseconds. */
  nowNs(): number;
  /** The process' own wall clock, milliseconds since 1970, which faults skew: for locks that take it for the truth. */
  wallMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * For pauses and choices. Seeded with `options.seed` and the client's name: the same run draws the same numbers again.
   * Never for owners: two clients of two runs may draw the same. `randomValue()` is for those.
   */
  readonly random: Random;
  /** A value that no other call returns, in this process or any other: 160 truly random bits, hex. For owners. */
  randomValue(): string;
  /** As `randomValue()`, with this process's name before a colon: by it a service's own record tells whose a grant is. */
  ownerValue(): string;
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
