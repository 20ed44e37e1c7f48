/**
 * `read-write`, whose readers may become writers without letting go first. When they may is what canaries get wrong.
 */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { ownedLocks } from '../owned-locks.js';
import { readWriteProtocol } from '../read-write-protocol.js';
import type { Protocol } from '../reentrant-lock.js';
import { takenFrom } from '../reentrant-protocol.js';
import { readWriteState } from '../scripts/read-write-state.js';

/**
 * KEYS[1], KEYS[2]  see scripts/read-write-state.ts
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 * ARGV[3]  'read' or 'write'
 *
 * Returns {1, how often the owner now holds it in that mode}, or {0, ms} as scripts/read-write-take.ts does.
 */
const takeOrUpgrade = (mayUpgrade: string) => `${readWriteState}
drop_expired()
local mode = redis.call('hget', KEYS[1], 'mode')
local reads = redis.call('hexists', KEYS[1], 'read:' .. ARGV[1]) == 1
local writes = redis.call('hexists', KEYS[1], 'write:' .. ARGV[1]) == 1
local only_holder = redis.call('zcard', KEYS[2]) == 1
local upgrade = ARGV[3] == 'write' and ${mayUpgrade}
if mode and not writes and not upgrade and (mode == 'write' or ARGV[3] == 'write') then
  return {0, redis.call('pttl', KEYS[1])}
end
local field = ARGV[3] .. ':' .. ARGV[1]
local held = redis.call('hincrby', KEYS[1], field, 1)
lease(field, tonumber(ARGV[2]))
return {1, held}
`;

/** `mayUpgrade`: a condition of the script, over `reads` and `only_holder`. */
export function upgradableLock(name: string, mayUpgrade: string): LockDefinition {
  const script = takeOrUpgrade(mayUpgrade);
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'reentrant', 'shared'],
    model: { kind: 'read-write' },
    async connect(access) {
      const redis = await access.redis();
      return ownedLocks(access, (key, mode): Protocol => {
        const keys = [key, companionKey(key, 'leases')];
        return {
          ...readWriteProtocol(access, redis, key, mode),
          async take(owner, leaseMs) {
            return takenFrom((await redis.eval(script, 2, ...keys, owner, leaseMs, mode)) as [number, number]);
          },
        };
      });
    },
  });
}
