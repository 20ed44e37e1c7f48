/**
 * A lock whose acquire may be repeated: a key that already carries the caller's own owner id counts as granted, so that
 * a try whose answer was lost can simply be made again. Sound as long as owner ids differ.
 */
import type { AcquireOptions, LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Pause, tryUntilGranted, validForMs, whyNotDone } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { releaseByScript } from './release.js';

/**
 * KEYS[1]  the lock
 * ARGV[1]  the owner id
 * ARGV[2]  the lease in milliseconds
 *
 * Returns 1 if the lock is now this owner's with a whole lease, 0 if it is another's.
 */
const acquireOrConfirm = `
local owner = redis.call('get', KEYS[1])
if owner == false or owner == ARGV[1] then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`;

export interface RetriableParts {
  /** With the keys, arguments and answers of the one above. */
  acquireScript?: string;
  /** Between two tries. */
  pause?: Pause;
}

/** The lock with owner ids made by `ownerOf`, once for all tries of an acquire. */
export function retriableLock(
  name: string,
  ownerOf: (access: TopologyAccess) => string,
  { acquireScript = acquireOrConfirm, pause = { minMs: 10, maxMs: 30 } }: RetriableParts = {},
): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, owner: string, leaseMs: number) => {
        const sentNs = access.nowNs();
        try {
          const granted = await redis.eval(acquireScript, 1, key, owner, leaseMs);
          if (granted === 0) return { refusedBecause: 'held' };
        } catch (error) {
          const reason = whyNotDone(error);
          if (reason === undefined) throw error;
          return { refusedBecause: reason };
        }
        const release = () => releaseByScript(redis, key, owner);
        return { hold: { release, grantSentNs: sentNs, validForMs: validForMs(access, sentNs, leaseMs) } };
      };
      return {
        acquire(key: string, options: AcquireOptions) {
          const owner = ownerOf(access);
          return tryUntilGranted(access, options, pause, () => attempt(key, owner, options.leaseMs));
        },
      };
    },
  });
}

/**
 * Of a lock whose key expires under a holder: who comes within three milliseconds of that cannot be told by the server's record
 * to have come before or after it.
 */
export const SELDOM: Pause = { minMs: 200, maxMs: 600 };

/** An owner id that outlives the process: the machine's name, of which `c1.2` is the second process. */
export function nameOfMachine({ options }: TopologyAccess): string {
  return options.client.split('.', 1)[0]!;
}
