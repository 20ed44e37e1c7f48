/**
 * The ioredis clients that published libraries are given.
 *
 * - `bounded`: those that the harness gives to every lock. They never resend, never queue while offline, and bound every
 *   command in time. A library that has no time-outs of its own is so protected from its worst; what goes wrong even then
 *   is the library's doing.
 * - `defaults`: ioredis's own settings, as `new Redis(host)` has them. Commands wait in a queue while offline, are sent
 *   again after a reconnect, up to 20 times, and have no time-out: a server that hangs hangs its clients. This is
 *   how most applications run. An operation that spans a reconnect is still "cannot tell", whatever the library says.
 *
 * Both are stamped, so that a lease counts from when the granted attempt left.
 */
import type { Redis, RedisOptions } from 'ioredis';
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import { INDEPENDENT_NODES } from '../builtin-lock.js';

export type ClientSettings = 'bounded' | 'defaults';

/** Every setting in which the harness's clients differ. ioredis fills in what is undefined. */
const AS_NEW_REDIS: Partial<RedisOptions> = {
  autoResendUnfulfilledCommands: undefined,
  commandTimeout: undefined,
  connectTimeout: undefined,
  disableClientInfo: undefined,
  disconnectTimeout: undefined,
  enableOfflineQueue: undefined,
  keepAlive: undefined,
  maxLoadingRetryTime: undefined,
  maxRetriesPerRequest: undefined,
  reconnectOnError: undefined,
  retryStrategy: undefined,
  socketTimeout: undefined,
};

/** One client for each independent node; a single one where there is one logical server. */
export async function clientsOf(access: TopologyAccess, settings: ClientSettings = 'bounded'): Promise<Redis[]> {
  const areIndependent: readonly string[] = INDEPENDENT_NODES;
  const bounded = areIndependent.includes(access.description.kind) ? await access.nodes() : [await access.redis()];
  if (settings === 'bounded') return bounded;
  return bounded.map((client) => {
    const own = client.duplicate(AS_NEW_REDIS);
    // Without a listener ioredis prints every failed reconnect.
    own.on('error', () => {});
    return own;
  });
}
