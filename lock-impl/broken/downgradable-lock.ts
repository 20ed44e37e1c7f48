/**
 * `read-write`, which differs in what a writer that reads as well has left when it stops writing.
 */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { ownedLocks } from '../owned-locks.js';
import { readWriteProtocol } from '../read-write-protocol.js';
import type { Protocol } from '../reentrant-lock.js';
import { readWriteState } from '../scripts/read-write-state.js';

/**
 * KEYS[1], KEYS[2]  see scripts/read-write-state.ts
 * ARGV[1]  the owner
 * ARGV[2]  the channel
 *
 * Returns 0, or nil if it did not write.
 */
const stopWriting = (ended: string) => `${readWriteState}
drop_expired()
local field = 'write:' .. ARGV[1]
if redis.call('hexists', KEYS[1], field) == 0 then
  return nil
end
redis.call('publish', ARGV[2], 'free')
for _, one in ipairs(${ended}) do
  redis.call('hdel', KEYS[1], one)
  redis.call('zrem', KEYS[2], one)
end
settle()
return 0
`;

/** `ended`: a list of fields, as the script says it, over the writer's `field`. It writes but once at a time. */
export function downgradableLock(name: string, ended: string): LockDefinition {
  const script = stopWriting(ended);
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'shared', 'downgrade'],
    model: { kind: 'read-write' },
    async connect(access) {
      const redis = await access.redis();
      return ownedLocks(access, (key, mode): Protocol => {
        const protocol = readWriteProtocol(access, redis, key, mode);
        if (mode === 'read') return protocol;
        const keys = [key, companionKey(key, 'leases'), companionKey(key, 'free')];
        const [lock, leases, channel] = keys as [string, string, string];
        return {
          ...protocol,
          giveBack: (owner) => redis.eval(script, 2, lock, leases, owner, channel) as Promise<number | null>,
        };
      });
    },
  });
}
