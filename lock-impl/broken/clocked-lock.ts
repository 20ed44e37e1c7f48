/**
 * A lock whose key says until when it is held, beside its owner; who finds that that is over takes it. It is stored for as
 * long as the lease, too, so that the time is nothing but a second opinion.
 */
import type { LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { companionKey } from '../keys.js';
import type { OwnedKey } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

/**
 * KEYS[1]  the lock
 * KEYS[2]  until when it is held, milliseconds since 1970
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 * ARGV[3]  what time it is by the clock of the client
 *
 * Returns 1 if the lock was free or over and is this owner's now, 0 if it is another's.
 */
const takeIfOver = (now: string) => `
local time = redis.call('time')
local now = ${now}
local until_ms = redis.call('get', KEYS[2])
if redis.call('exists', KEYS[1]) == 1 and until_ms and tonumber(until_ms) > now then
  return 0
end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('set', KEYS[2], now + ARGV[2], 'PX', ARGV[2])
return 1
`;

/**
 * KEYS and ARGV as above
 *
 * Returns 1 if the lock was this owner's and is for another lease, 0 if it is another's or nobody's.
 */
const extendIfMine = (now: string) => `
if redis.call('get', KEYS[1]) ~= ARGV[1] then
  return 0
end
local time = redis.call('time')
redis.call('pexpire', KEYS[1], ARGV[2])
redis.call('set', KEYS[2], ${now} + ARGV[2], 'PX', ARGV[2])
return 1
`;

export const CLIENTS_TIME = 'tonumber(ARGV[3])';
export const SERVERS_TIME = 'time[1] * 1000 + math.floor(time[2] / 1000)';

/** `now`: what time it is, an expression of the script. */
export function clockedLock(name: string, now: string): LockDefinition {
  const [take, extend] = [takeIfOver(now), extendIfMine(now)];
  const run = async (script: string, { redis, key, owner }: OwnedKey, leaseMs: number, access: TopologyAccess) =>
    (await redis.eval(script, 2, key, companionKey(key, 'until'), owner, leaseMs, access.wallMs())) === 1;
  return leaseLock(name, {
    take: (mine, leaseMs, access) => run(take, mine, leaseMs, access),
    extend: (mine, leaseMs, access) => run(extend, mine, leaseMs, access),
  });
}
