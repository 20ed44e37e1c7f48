/**
 * npm `redlock` 4, as it is: acquire, extend and release with its default options. It tries for about two seconds however
 * long the harness would wait (10 retries), and grants only while its own validity, by the wall clock, is not over.
 *
 * Worth knowing when reading a report: it waits for the answers of *all* nodes, with no time-out of its own; an extension
 * that fails gives the lock back on every node and tries again; `expiration` is by the wall clock.
 */
import type { EventEmitter } from 'node:events';
import type { AcquireOptions, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { whyNotDone } from '../attempts.js';
import { ANYTHING } from '../builtin-lock.js';
import { defineLock, refused } from '../define-lock.js';
import { clientsOf } from './clients.js';
import { installedVersion, libraries, load } from './library.js';

interface Redlock4 extends EventEmitter {
  lock(key: string, leaseMs: number): PromiseLike<Lock4>;
}

interface Lock4 {
  /** Milliseconds since 1970. */
  expiration: number;
  extend(leaseMs: number): PromiseLike<Lock4>;
  unlock(): PromiseLike<void>;
}

type Redlock4Constructor = new (clients: readonly unknown[]) => Redlock4;

const library = libraries['redlock-4'];

export default defineLock({
  name: 'third-party/redlock-4',
  topologies: ANYTHING,
  features: ['extend', installedVersion(library) ?? 'not-installed'],
  async connect(access) {
    const { default: Redlock } = await load<{ default: Redlock4Constructor }>(library);
    const clients = await clientsOf(access);
    const redlock = new Redlock(clients);
    return {
      async acquire(key: string, { leaseMs }: AcquireOptions) {
        const result = await withErrors(redlock, () => redlock.lock(key, leaseMs));
        if ('done' in result) return held(access, redlock, result.done);
        throw whyNotGranted(result, clients.length);
      },
    };
  },
});

type Result<T> = { done: T } | { failed: Error; errors: Error[] };

/** Calls the library and, where it says that it failed, tells which errors its nodes met meanwhile. */
async function withErrors<T>(redlock: Redlock4, call: () => PromiseLike<T>): Promise<Result<T>> {
  const errors: Error[] = [];
  const note = (error: Error) => errors.push(error);
  redlock.on('clientError', note);
  try {
    return { done: await call() };
  } catch (error) {
    if ((error as Error).name !== 'LockError') throw error;
    return { failed: error as Error, errors };
  } finally {
    redlock.off('clientError', note);
  }
}

/** It says no, and has given back what it got. On one server an unanswered command leaves a doubt all the same. */
function whyNotGranted({ failed, errors }: { failed: Error; errors: Error[] }, nodes: number): Error {
  if (errors.length === 0) return refused('held');
  if (nodes > 1) return refused('no-quorum');
  const reasons = errors.map(whyNotDone);
  return reasons.includes(undefined) ? failed : refused(reasons.at(-1)!);
}

function held(access: TopologyAccess, redlock: Redlock4, lock: Lock4): LockHold {
  const lost = new AbortController();
  return {
    lost: lost.signal,
    validForMs: lock.expiration - access.wallMs(),
    async extend(leaseMs) {
      const result = await withErrors(redlock, () => lock.extend(leaseMs));
      if ('done' in result) return { validForMs: lock.expiration - access.wallMs() };
      // Either it was over already, or the library has just given it back.
      lost.abort(result.failed);
      if (result.errors.length === 0) return null;
      throw result.failed;
    },
    async release() {
      const result = await withErrors(redlock, () => lock.unlock());
      if ('done' in result) return true;
      // All nodes answered, and a majority had it no more.
      if (result.errors.length === 0) return false;
      throw result.failed;
    },
  };
}
