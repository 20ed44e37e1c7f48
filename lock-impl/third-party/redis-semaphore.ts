/**
 * npm `redis-semaphore`, as it is: each acquire makes one of its locks, which refreshes itself every 0.8 leases.
 *
 * From the harness it gets servers, key, lease, how long to wait, and a listener for a lost lock (without one it throws
 * into nowhere, which ends the process). It reports nothing else: no validity, and a release says nothing about whether
 * the lock was still there. A refresh whose command fails on a single server ends the process, too: it is an unhandled
 * rejection. All of that is the library's own doing, and so is what a run shows of it.
 */
import type {
  AcquireOptions,
  LockClient,
  LockDefinition,
  LockHold,
  TopologyAccess,
} from '../../harness/vocabulary/lock.js';
import type { Deadlines, LockModel } from '../../harness/vocabulary/protocol.js';
import { certainOrDoubtful } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { type ClientSettings, clientsOf } from './clients.js';
import { installedVersion, libraries, load } from './library.js';

/** What the adapters use of one of its locks. `_refresh` is what its timer calls: protected, so made to be overridden. */
interface Refreshing {
  tryAcquire(): Promise<boolean>;
  release(): Promise<void>;
  _refresh(): Promise<boolean>;
}

interface Timing {
  lockTimeout: number;
  acquireTimeout?: number;
  acquireAttemptsLimit?: number;
  onLockLost(error: Error): void;
}

type LockClass = new (...args: [...whatToLock: unknown[], timing: Timing]) => Refreshing;
export type Exports = Record<'Mutex' | 'RedlockMutex' | 'Semaphore', LockClass>;

export interface RedisSemaphoreLock {
  name: string;
  topologies: readonly string[];
  model?: LockModel;
  deadlines?: Deadlines;
  clients?: ClientSettings;
  /** Under which name it keeps a key. */
  keys: readonly string[];
  /** Which of its classes. */
  classOf(exports: Exports): LockClass;
  /** What its constructor wants before the timing. */
  whatToLock(clients: readonly unknown[], key: string): unknown[];
}

const library = libraries['redis-semaphore'];

export function redisSemaphore(lock: RedisSemaphoreLock): LockDefinition {
  return defineLock({
    name: lock.name,
    topologies: lock.topologies,
    features: ['renews', installedVersion(library) ?? 'not-installed'],
    ...(lock.model && { model: lock.model }),
    ...(lock.deadlines && { deadlines: lock.deadlines }),
    keys: lock.keys,
    connect: (access) => connect(access, lock),
  });
}

async function connect(access: TopologyAccess, lock: RedisSemaphoreLock): Promise<LockClient> {
  const { default: exports } = await load<{ default: Exports }>(library);
  const clients = await clientsOf(access, lock.clients);
  const Base = lock.classOf(exports);

  /** The library's lock, watched: a refresh that worked is reported. */
  class Watched extends Base {
    onRefreshed: ((sentNs: number) => void) | undefined;

    override async _refresh(): Promise<boolean> {
      const sentNs = access.nowNs();
      const refreshed = await super._refresh();
      if (refreshed) this.onRefreshed?.(sentNs);
      return refreshed;
    }
  }

  return {
    async acquire(key, { leaseMs, waitMs }: AcquireOptions) {
      const lost = new AbortController();
      // It takes "no time" for "no try".
      const wait = waitMs > 0 ? { acquireTimeout: waitMs } : { acquireAttemptsLimit: 1 };
      const timing = { lockTimeout: leaseMs, ...wait, onLockLost: (error: Error) => lost.abort(error) };
      const mutex = new Watched(...lock.whatToLock(clients, key), timing);
      // What it throws is an error of its last command: before that the servers said no.
      if (!(await certainOrDoubtful(mutex.tryAcquire()))) return null;
      const hold: LockHold = { lost: lost.signal, release: () => certainOrDoubtful(mutex.release()) };
      mutex.onRefreshed = (sentNs) => access.renewed(hold, sentNs, leaseMs);
      return hold;
    },
  };
}
