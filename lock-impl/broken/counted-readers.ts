/**
 * A read-write lock of two keys: one with the writer, and one with the readers, which may be no more than their number. Readers ask
 * for a whole lease or an eighth of it, as calls of an application differ; what of them expires when is what canaries get wrong.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { answerOrRefusal } from '../owned-key.js';
import { releaseIfMine } from '../scripts/release-if-mine.js';
import { serverNow } from '../scripts/server-now.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/**
 * KEYS[1]  the writer
 * KEYS[2]  the readers
 * ARGV[1]  the owner
 * ARGV[2]  the lease in milliseconds
 */
export interface ReaderScripts {
  /** Returns 1 if the caller reads now, 0 if somebody writes. */
  read: string;
  /** Returns 1 if the caller writes now, 0 if somebody reads or writes. */
  write: string;
  /** Returns 1 if the caller was one of the readers, 0 if it was not. */
  stopReading: string;
}

/** KEYS[2] is their number. `expire`: what a reader does that has just been counted; `readers` is the number then. */
const takeToRead = (expire: string) => `
if redis.call('exists', KEYS[1]) == 1 then
  return 0
end
local readers = redis.call('incr', KEYS[2])
${expire}
return 1
`;

const takeToWrite = `
if redis.call('exists', KEYS[2]) == 1 or not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 0
end
return 1
`;

const stopReading = `
local readers = tonumber(redis.call('get', KEYS[2]) or 0)
if readers == 0 then
  return 0
end
if readers == 1 then
  return redis.call('del', KEYS[2])
end
redis.call('decr', KEYS[2])
return 1
`;

export const readersByNumber = (expire: string): ReaderScripts => ({
  read: takeToRead(expire),
  write: takeToWrite,
  stopReading,
});

const dropExpired = `
${serverNow}
redis.call('zremrangebyscore', KEYS[2], '-inf', now)
`;

/** KEYS[2] is their names in the order in which their leases end, and lives for as long as the longest. */
export const namedReaders: ReaderScripts = {
  read: `${dropExpired}
if redis.call('exists', KEYS[1]) == 1 then
  return 0
end
redis.call('zadd', KEYS[2], now + ARGV[2], ARGV[1])
redis.call('pexpireat', KEYS[2], redis.call('zrange', KEYS[2], -1, -1, 'withscores')[2])
return 1
`,
  write: dropExpired + takeToWrite,
  stopReading: "return redis.call('zrem', KEYS[2], ARGV[1])",
};

export function sharedByReaders(name: string, { read, write, stopReading }: ReaderScripts): LockDefinition {
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
        const taken = redis.eval(mode === 'read' ? read : write, 2, ...keys, owner, leaseMs);
        const result = await answerOrRefusal(taken);
        if ('refusedBecause' in result) return result;
        if (result.answer !== 1) return { refusedBecause: 'held' };
        const release = async () => {
          const left =
            mode === 'read' ? redis.eval(stopReading, 2, ...keys, owner) : redis.eval(releaseIfMine, 1, key, owner);
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
