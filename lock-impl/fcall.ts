/**
 * `set-nx-px` by functions of the server (FCALL, Redis 7.0 and Valkey): a library that is loaded once is kept and replicated as
 * data is. A script that was loaded once is not (`broken/evalsha-only`): a replica that was promoted does not know it.
 *
 * It promises what `set-nx-px` does. Functions can be lost as keys can, by a server that restarts without persistence or a failover
 * that loses the load: a call that finds none was certainly not executed, so the library is loaded and the call repeated. It
 * excludes servers without functions, where every try is refused, and a Cluster, whose primaries would each need the library.
 */
import type { Redis } from 'ioredis';
import { defineLock } from './define-lock.js';
import type { OwnedKeyCommands } from './owned-key.js';
import { leasesBy } from './set-nx-px.js';

export default defineLock({
  name: 'fcall',
  topologies: ['single', 'replica', 'sentinel'],
  features: ['extend'],
  async connect(access) {
    const redis = await access.redis();
    return leasesBy(access, redis, byFunctions(redis));
  },
});

/**
 * Each function takes the key of the lock, the owner's random value and, but for the release, a lease in milliseconds. It returns
 * 1 if it was done, 0 if the lock is another's (to give back and to prolong: or nobody's).
 */
const LIBRARY = `#!lua name=locktorture
redis.register_function('locktorture_take', function(keys, args)
  if redis.call('set', keys[1], args[1], 'NX', 'PX', args[2]) then
    return 1
  end
  return 0
end)

redis.register_function('locktorture_give_back', function(keys, args)
  if redis.call('get', keys[1]) == args[1] then
    return redis.call('del', keys[1])
  end
  return 0
end)

redis.register_function('locktorture_prolong', function(keys, args)
  if redis.call('get', keys[1]) == args[1] then
    return redis.call('pexpire', keys[1], args[2])
  end
  return 0
end)
`;

function byFunctions(redis: Redis): OwnedKeyCommands {
  const isDone = async (name: string, ...args: [key: string, ...(string | number)[]]) => {
    const call = () => redis.fcall(`locktorture_${name}`, 1, ...args);
    const answer = await call().catch(async (error: unknown) => {
      if (!isUnknownFunction(error)) throw error;
      // Of several clients that do so at once each replaces the library by the same.
      await redis.function('LOAD', 'REPLACE', LIBRARY);
      return call();
    });
    return answer === 1;
  };
  return {
    take: ({ key, owner }, leaseMs) => isDone('take', key, owner, leaseMs),
    giveBack: ({ key, owner }) => isDone('give_back', key, owner),
    prolong: ({ key, owner }, leaseMs) => isDone('prolong', key, owner, leaseMs),
  };
}

function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && /^ERR Function not found/i.test(error.message);
}
