/**
 * SET NX PX by a script that is called by its digest. Who comes first loads it and leaves a note of the digest on the server. The
 * note is kept and replicated as every key; scripts are not.
 */
import type { Redis } from 'ioredis';
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { leaseLock } from './lease-lock.js';

/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the lock is now this owner's, 0 if it is somebody's.
 */
const takeIfFree = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 1
end
return 0
`;

/** The key with the digest of the script. */
const NOTE = 'script-of-the-lock';

/** What is done when the call by digest failed: its answer, or the error. `sendWhole` calls the script by its text. */
export type AfterFailure = (sendWhole: () => Promise<unknown>, error: unknown) => Promise<unknown>;

export function loadedScriptLock(name: string, afterFailure: AfterFailure): LockDefinition {
  let digest: string | undefined;
  const digestOf = async (redis: Redis) => {
    digest ??= (await redis.get(NOTE)) ?? undefined;
    if (digest !== undefined) return digest;
    const loaded = String(await redis.script('LOAD', takeIfFree));
    await redis.set(NOTE, loaded);
    return loaded;
  };
  const lock = leaseLock(name, {
    async take({ redis, key, owner }, leaseMs) {
      const args = [1, key, owner, leaseMs] as const;
      const answer = redis.evalsha(await digestOf(redis), ...args);
      return (await answer.catch((error: unknown) => afterFailure(() => redis.eval(takeIfFree, ...args), error))) === 1;
    },
  });
  // A Cluster would have to be told by node which scripts it has.
  return { ...lock, topologies: ['replica', 'sentinel', 'single'] };
}
