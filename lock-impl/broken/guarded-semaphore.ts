/**
 * `semaphore`, whose holders give a permit back when its lease is over, so that work that hangs does not keep it: by a timer
 * in the holder, beside its release.
 */
import type { AcquireOptions, LockDefinition, LockHold } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { Semaphore } from '../semaphore.js';

const PERMITS = 2;

/** Makes of "give the permit back" what the timer and the release both call. */
export type GivenBack = (giveBack: () => Promise<boolean>) => () => Promise<boolean>;

export function guardedSemaphore(name: string, givenBack: GivenBack): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    model: { kind: 'semaphore', permits: PERMITS },
    deadlines: { permit: 'never' },
    async connect(access) {
      const redis = await access.redis();
      return {
        async acquire(key: string, options: AcquireOptions): Promise<LockHold> {
          const hold = await new Semaphore(access, { redis, key, permits: PERMITS }).acquire(options);
          const giveBack = givenBack(async () => (await hold.release()) !== false);
          const lost = new AbortController();
          void access.sleep(options.leaseMs).then(async () => {
            // A holder that still works under it learns of it. A permit that could not be given back now is lost.
            lost.abort('its lease is over');
            await giveBack().catch(() => {});
          });
          return { ...hold, lost: lost.signal, release: giveBack };
        },
      };
    },
  });
}
