/**
 * The API that npm `redlock` 5 and `@sesamecare-oss/redlock` share, in both ways in which it is used:
 *
 * - acquire, extend and release, called one by one;
 * - `using`, which extends the lock by itself shortly before it ends, and tells by an abort signal that it could not.
 *
 * Everything with their default options: they try for about two seconds however long the harness would wait, and take
 * as long to give up on a release. Neither looks at the lease before it says "granted": a grant can be over already, and
 * then its `validForMs` is negative.
 */
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { whyNotDone } from '../attempts.js';
import { ANYTHING } from '../builtin-lock.js';
import { defineLock, refused } from '../define-lock.js';
import { type ClientSettings, clientsOf } from './clients.js';
import { installedVersion, type Library, load } from './library.js';

interface Redlock5 {
  acquire(keys: string[], leaseMs: number): Promise<Lock5>;
  extend(lock: Lock5, leaseMs: number, settings?: unknown): Promise<Lock5>;
  using(keys: string[], leaseMs: number, routine: (signal: Signal5) => Promise<void>): Promise<void>;
}

interface Lock5 {
  /** Milliseconds since 1970. */
  expiration: number;
  extend(leaseMs: number): Promise<Lock5>;
  release(): Promise<unknown>;
}

type Signal5 = AbortSignal & { error?: Error };

/** Thrown where no quorum was reached. Each attempt's votes come when all nodes have answered it, perhaps never. */
interface ExecutionError extends Error {
  attempts: readonly Promise<Votes>[];
}

interface Votes {
  membershipSize: number;
  quorumSize: number;
  votesAgainst: Map<unknown, Error>;
}

export type Redlock5Constructor = new (clients: readonly unknown[]) => Redlock5;

export interface Redlock5Lock {
  name: string;
  library: Library;
  constructorOf(exports: Record<string, unknown>): unknown;
  clients?: ClientSettings;
}

/** Acquire, extend, release. */
export function redlock5(lock: Redlock5Lock): LockDefinition {
  return defineLock({
    name: lock.name,
    topologies: ANYTHING,
    features: ['extend', installedVersion(lock.library) ?? 'not-installed'],
    async connect(access) {
      const { nodes, make } = await opened(access, lock);
      const redlock = make();
      return {
        async acquire(key: string, { leaseMs }: AcquireOptions) {
          const granted = await redlock.acquire([key], leaseMs).catch((error) => refuse(access, nodes, error));
          return held(access, granted);
        },
      };
    },
  });
}

/** `using`: the lock extends itself while it is held. */
export function redlock5Using(lock: Redlock5Lock): LockDefinition {
  return defineLock({
    name: lock.name,
    // A Cluster client, or one of Sentinel, is duplicated in another way.
    topologies: lock.clients === 'defaults' ? ['redlock'] : ANYTHING,
    features: ['renews', installedVersion(lock.library) ?? 'not-installed'],
    async connect(access) {
      const { nodes, make } = await opened(access, lock);
      return {
        acquire: async (key: string, { leaseMs }: AcquireOptions) => {
          const { hold, entered } = use(access, make(), key, leaseMs);
          await entered.catch((error) => refuse(access, nodes, error));
          return hold;
        },
      };
    },
  });
}

async function opened(access: TopologyAccess, lock: Redlock5Lock): Promise<{ nodes: number; make(): Redlock5 }> {
  const Redlock = lock.constructorOf(await load<Record<string, unknown>>(lock.library)) as Redlock5Constructor;
  const clients = await clientsOf(access, lock.clients);
  return { nodes: clients.length, make: () => new Redlock(clients) };
}

function held(access: TopologyAccess, granted: Lock5): LockHold {
  let lock = granted;
  return {
    validForMs: lock.expiration - access.wallMs(),
    async extend(leaseMs) {
      try {
        lock = await lock.extend(leaseMs);
      } catch (error) {
        if (await certainlyNotOurs(access, error)) return null;
        throw error;
      }
      return { validForMs: lock.expiration - access.wallMs() };
    },
    release: () => released(access, lock.release()),
  };
}

/** Turns a routine that holds the lock while it runs into a hold that ends with its release, held once `entered`. */
function use(
  access: TopologyAccess,
  redlock: Redlock5,
  key: string,
  leaseMs: number,
): { hold: LockHold; entered: Promise<void> } {
  const lost = new AbortController();
  const over = deferred<void>();
  const entered = deferred<void>();
  const hold: LockHold = { lost: lost.signal, release: () => released(access, leave()) };
  tellExtensions(access, redlock, hold, leaseMs);
  const whole = redlock.using([key], leaseMs, (signal) => {
    signal.addEventListener('abort', () => lost.abort(signal.error));
    entered.resolve();
    return over.promise;
  });
  const leave = () => {
    over.resolve();
    return whole;
  };
  whole.catch((error) => entered.reject(error));
  return { hold, entered: entered.promise };
}

/** Watches from outside: `using` calls the instance's own `extend`, and does not report when that worked. */
function tellExtensions(access: TopologyAccess, redlock: Redlock5, hold: LockHold, leaseMs: number): void {
  const extend = redlock.extend.bind(redlock);
  redlock.extend = async (...args) => {
    // It may try several times. The earliest is the safe side: the lease is never thought to last longer than it does.
    const sentNs = access.nowNs();
    const extended = await extend(...args);
    access.renewed(hold, sentNs, leaseMs);
    return extended;
  };
}

/** An acquire that failed: the library has given back what it got. */
async function refuse(access: TopologyAccess, nodes: number, error: unknown): Promise<never> {
  if (!isExecutionError(error)) throw error;
  const votes = await votesOf(access, error);
  const errors = votes.flatMap((vote) => [...(vote?.votesAgainst.values() ?? [])]);
  if (errors.length > 0 && errors.every(isLocked)) throw refused('held');
  if (nodes > 1) throw refused('no-quorum');
  // One server, and a command that it did not answer: the lock may be taken, and the undoing undone.
  const reasons = errors.filter((one) => !isLocked(one)).map(whyNotDone);
  throw reasons.length === 0 || reasons.includes(undefined) ? error : refused(reasons.at(-1)!);
}

async function released(access: TopologyAccess, release: Promise<unknown>): Promise<boolean> {
  try {
    await release;
    return true;
  } catch (error) {
    if (await certainlyNotOurs(access, error)) return false;
    throw error;
  }
}

/**
 * Whether so many nodes answered, at once, that the lock was not ours, that it was no lock any more. Later attempts tell
 * nothing: they meet what the first one did.
 */
async function certainlyNotOurs(access: TopologyAccess, error: unknown): Promise<boolean> {
  if (!isExecutionError(error)) return false;
  // "Already expired", says the library without asking anybody.
  if (error.attempts.length === 0) return true;
  const [first] = await votesOf(access, error);
  return first !== undefined && [...first.votesAgainst.values()].filter(isLocked).length >= first.quorumSize;
}

/** The votes of each attempt; undefined where a node has not answered yet. */
function votesOf(access: TopologyAccess, { attempts }: ExecutionError): Promise<(Votes | undefined)[]> {
  const notYet = access.sleep(0).then(() => undefined);
  return Promise.all(attempts.map((votes) => Promise.race([votes, notYet])));
}

function isExecutionError(error: unknown): error is ExecutionError {
  return (error as Error | undefined)?.name === 'ExecutionError';
}

/** Its name for every "no" of a server. */
function isLocked(error: Error): boolean {
  return error.name === 'ResourceLockedError';
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
