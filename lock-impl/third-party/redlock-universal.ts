/**
 * npm `redlock-universal`, as it is: acquire, extend and release with its default options, through its adapter for
 * ioredis. One node gives its simple lock, several its Redlock. It tries four times, however long the harness would wait.
 *
 * It says no validity: its handle has the time at which it was granted, by the wall clock, after the answers came.
 */
import type { AcquireOptions, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { ANYTHING } from '../builtin-lock.js';
import { defineLock, refused } from '../define-lock.js';
import { clientsOf } from './clients.js';
import { installedVersion, libraries, load } from './library.js';

/** What the library asks of a server, as far as the adapter here looks at it. */
interface ServerAdapter {
  get(key: string): Promise<string | null>;
  delIfMatch(key: string, value: string): Promise<boolean>;
  extendIfMatch(key: string, value: string, leaseMs: number): Promise<boolean>;
}

interface UniversalLock {
  acquire(): Promise<unknown>;
  extend(handle: unknown, leaseMs: number): Promise<boolean>;
  release(handle: unknown): Promise<boolean>;
}

interface Exports {
  IoredisAdapter: new (client: unknown) => ServerAdapter;
  createLock(config: { adapter: ServerAdapter; key: string; ttl: number }): UniversalLock;
  createRedlock(config: { adapters: ServerAdapter[]; key: string; ttl: number }): UniversalLock;
}

const library = libraries['redlock-universal'];

export default defineLock({
  name: 'third-party/redlock-universal',
  topologies: ANYTHING,
  features: ['extend', installedVersion(library) ?? 'not-installed'],
  async connect(access) {
    const exports = await load<Exports>(library);
    const errors: unknown[] = [];
    const adapters = await adaptersOf(access, exports, errors);
    const [adapter] = adapters as [ServerAdapter];
    const lockOf = (key: string, ttl: number) =>
      adapters.length > 1 ? exports.createRedlock({ adapters, key, ttl }) : exports.createLock({ adapter, key, ttl });
    return {
      async acquire(key: string, { leaseMs }: AcquireOptions) {
        const lock = lockOf(key, leaseMs);
        return held(lock, await lock.acquire().catch(refuse), errors);
      },
    };
  },
});

/** The library's own adapters; the errors of single nodes, of which its Redlock says nothing, are noted in `errors`. */
async function adaptersOf(access: TopologyAccess, exports: Exports, errors: unknown[]): Promise<ServerAdapter[]> {
  const noting = async <T>(call: Promise<T>) => {
    try {
      return await call;
    } catch (error) {
      errors.push(error);
      throw error;
    }
  };
  class Watched extends exports.IoredisAdapter {
    override get(key: string) {
      return noting(super.get(key));
    }
    override delIfMatch(key: string, value: string) {
      return noting(super.delIfMatch(key, value));
    }
    override extendIfMatch(key: string, value: string, leaseMs: number) {
      return noting(super.extendIfMatch(key, value, leaseMs));
    }
  }
  return (await clientsOf(access)).map((client) => new Watched(client));
}

/** The library wraps errors, and forgets what they were; its own two words for "no" are recognised by their text alone. */
function refuse(error: Error & { cause?: Error }): never {
  if (/^Lock ".*" is already held$/.test(error.cause?.message ?? '')) throw refused('held');
  if (/^RedLock quorum not achieved/.test(error.cause?.message ?? '')) throw refused('no-quorum');
  throw error;
}

function held(lock: UniversalLock, handle: unknown, errors: unknown[]): LockHold {
  /** A "no" of the library, unless a node's error may be behind it. */
  const sure = async (answer: Promise<boolean>) => {
    errors.length = 0;
    const yes = await answer;
    if (!yes && errors.length > 0) throw errors[0];
    return yes;
  };
  return {
    release: () => sure(lock.release(handle)),
    extend: async (leaseMs) => ((await sure(lock.extend(handle, leaseMs))) ? {} : null),
  };
}
