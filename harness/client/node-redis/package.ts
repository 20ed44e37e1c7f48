/**
 * The package `redis` of the user's project. A lock that is one bundled file brings the function that loads it, because only where that
 * file is made is known which one it is (`cli/run/node-redis.ts`).
 */
import { BadLockError } from '../load-lock.js';

/** What is used of it, in version 5 and 6. */
export interface NodeRedisPackage {
  createClient(options: object): RawClient;
  createSentinel(options: object): RawSentinel;
  createCluster(options: object): RawCluster;
}

export type LoadNodeRedis = () => Promise<NodeRedisPackage>;

interface Emitter {
  on(event: string, listener: (error: Error) => void): unknown;
}

export type CommandPart = string | Uint8Array;

/** A client of one server: the lock's own, or one of those that Sentinel's and Cluster's have. */
export interface RawClient extends Emitter {
  readonly options: { socket?: { host?: string; port?: number; reconnectStrategy?: unknown } };
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly isPubSubActive: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(args: readonly CommandPart[], options?: object): Promise<unknown>;
  _executeMulti(commands: readonly Batched[], ...rest: unknown[]): Promise<unknown>;
  _executePipeline(commands: readonly Batched[], ...rest: unknown[]): Promise<unknown>;
}

/** One command of a transaction or a pipeline. */
export interface Batched {
  readonly args: readonly CommandPart[];
}

/** Calls one client or another. */
export type SendTo = (client: RawClient, ...rest: unknown[]) => Promise<unknown>;

export interface RawSentinel extends Emitter {
  /** What is behind the object that `createSentinel` returns. */
  readonly _self: RawSentinel;
  connect(): Promise<unknown>;
  destroy(): Promise<void>;
  _execute(isReadonly: boolean, attempt: SendTo): Promise<unknown>;
}

export interface RawCluster extends Emitter {
  readonly _self: RawCluster;
  readonly _slots: { rediscover(first: Pick<RawClient, 'options'>): Promise<unknown> };
  connect(): Promise<unknown>;
  destroy(): void;
  duplicate(overrides?: object): RawCluster;
  _execute(
    first: unknown,
    isReadonly: unknown,
    options: unknown,
    attempt: SendTo,
    ...rest: unknown[]
  ): Promise<unknown>;
}

/** Where the lock's file puts the function when it is loaded. */
export const PLACE = 'lock-torture.node-redis';

/** The function of the lock that was loaded last; undefined: its file has none. Clients in one process have each their own. */
export function takeLoader(): LoadNodeRedis | undefined {
  const place = globalThis as unknown as Record<symbol, (() => Promise<Loaded>) | undefined>;
  const load = place[Symbol.for(PLACE)];
  delete place[Symbol.for(PLACE)];
  return load && (async () => exported(await load()));
}

type Loaded = Partial<NodeRedisPackage> & { default?: NodeRedisPackage };

/** A CommonJS package may have all that it exports below `default` only. */
function exported(loaded: Loaded): NodeRedisPackage {
  return (loaded.createClient ? loaded : loaded.default) as NodeRedisPackage;
}

export function notHere(): Error {
  return new BadLockError(
    'topology.nodeRedis() needs the package redis beside the file of the lock: npm install redis',
  );
}
