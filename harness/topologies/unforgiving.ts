/** How the harness's own programs talk to a server whose state they must know. */
import type { RedisOptions } from 'ioredis';

/** Nothing is queued, resent or waited for: who watches and retries would report the past as the present. */
export function unforgiving(timeoutMs: number) {
  return {
    lazyConnect: true,
    protocol: 2,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
  } satisfies RedisOptions;
}
