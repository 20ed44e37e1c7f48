/** SET NX PX, tried as often and as long apart as `tries` says for the wait that the caller allows. */
import type { AcquireOptions, LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Attempt } from '../attempts.js';
import { defineLock, refused } from '../define-lock.js';
import { attempt } from '../set-nx-px.js';

/** How often an acquire tries, and how long it pauses between two tries, milliseconds. */
export interface Tries {
  count: number;
  pauseMs: number;
}

export function countedTries(name: string, tries: (waitMs: number) => Tries): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['extend'],
    async connect(access) {
      const redis = await access.redis();
      return {
        acquire: (key: string, { leaseMs, waitMs }: AcquireOptions) =>
          tryThemAll(access, tries(waitMs), () => attempt(access, redis, key, leaseMs)),
      };
    },
  });
}

async function tryThemAll(access: TopologyAccess, { count, pauseMs }: Tries, once: () => Promise<Attempt>) {
  for (let tried = 1; ; tried++) {
    const result = await once();
    if ('hold' in result) return result.hold;
    if (tried >= count) throw refused(result.refusedBecause);
    await access.sleep(pauseMs);
  }
}
