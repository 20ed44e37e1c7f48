/**
 * A read-write lock that counts its readers: a key with their number, and one with the writer. Readers ask for a whole lease or
 * an eighth of it, as calls of an application differ; the number expires when it should, or does not, by `expire`.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOrRefusal } from '../owned-key.js';
import { releaseIfMine } from '../scripts/release-if-mine.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/**
 * KEYS[1]  the writer
 * KEYS[2]  how many read
 * ARGV[1]  the lease in milliseconds
 *
 * Returns 1 if the caller reads now, 0 if somebody writes.
 */
const takeToRead = (expire: string) => `
if redis.call('exists', KEYS[1]) == 1 then
  return 0
end
local readers = redis.call('incr', KEYS[2])
${expire}
return 1
`;

/**
 * KEYS as above
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the caller writes now, 0 if somebody reads or writes.
 */
const takeToWrite = `
if redis.call('exists', KEYS[2]) == 1 or not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 0
end
return 1
`;

/** KEYS[1]  how many read. Returns 1 if the caller was one of them, 0 if none was left. */
const stopReading = `
local readers = tonumber(redis.call('get', KEYS[1]) or 0)
if readers == 0 then
  return 0
end
if readers == 1 then
  return redis.call('del', KEYS[1])
end
redis.call('decr', KEYS[1])
return 1
`;

/** The number lives for as long as the longest lease of those it counts. */
export const NEVER_SHORTER = `if redis.call('pttl', KEYS[2]) < tonumber(ARGV[1]) then
  redis.call('pexpire', KEYS[2], ARGV[1])
end`;

/** `expire`: what a reader does that has just been counted; `readers` is the number. */
export function countedReaders(name: string, expire: string): LockDefinition {
  const read = takeToRead(expire);
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['shared'],
    model: { kind: 'read-write' },
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, mode: string, leaseMs: number): Promise<Attempt> => {
        const keys = [key, companionKey(key, 'readers')] as const;
        const owner = access.randomValue();
        const grantSentNs = access.nowNs();
        const asked =
          mode === 'read' ? redis.eval(read, 2, ...keys, leaseMs) : redis.eval(takeToWrite, 2, ...keys, owner, leaseMs);
        const result = await answerOrRefusal(asked);
        if ('refusedBecause' in result) return result;
        if (result.answer !== 1) return { refusedBecause: 'held' };
        const release = async () => {
          const left = mode === 'read' ? redis.eval(stopReading, 1, keys[1]) : redis.eval(releaseIfMine, 1, key, owner);
          return (await certainOrDoubtful(left)) === 1;
        };
        return { hold: { grantSentNs, validForMs: validForMs(access, grantSentNs, leaseMs), release } };
      };
      return {
        acquire(key: string, options: AcquireOptions) {
          const { mode = 'write' } = options;
          const short = mode === 'read' && access.random.float() < 0.5;
          const leaseMs = Math.ceil(options.leaseMs / (short ? 8 : 1));
          return tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, mode, leaseMs));
        },
      };
    },
  });
}
