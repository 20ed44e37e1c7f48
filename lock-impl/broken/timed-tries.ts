/**
 * SET NX PX that does not ask where the answer could not be in time: each try looks first whether there is lease left, reckoned
 * from when `reckonedFrom` says.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { attempt, PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** When a lease begins, ns; `firstNs`: when the first try began, `nowNs`: this one. */
export type ReckonedFrom = (firstNs: number, nowNs: number) => number;

export function timedTries(name: string, reckonedFrom: ReckonedFrom): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['extend'],
    async connect(access) {
      const redis = await access.redis();
      return {
        acquire(key: string, options: AcquireOptions) {
          const { leaseMs } = options;
          const firstNs = access.nowNs();
          const tryInTime = async (): Promise<Attempt> => {
            const leaseFromNs = reckonedFrom(firstNs, access.nowNs());
            if (validForMs(access, leaseFromNs, leaseMs) <= 0) return { refusedBecause: 'held' };
            return attempt(access, redis, key, leaseMs);
          };
          return tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, tryInTime);
        },
      };
    },
  });
}
