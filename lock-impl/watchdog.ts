/**
 * `set-nx-px` with a watchdog: while it is held, a background timer renews the lease every third of it (`renewal.ts`).
 *
 * It promises that work may last longer than the lease, and that a crash still frees the lock within one: a dead process
 * renews nothing. It excludes what the watchdog is often believed to give: a client that is paused or cut off for longer
 * than a lease is a stale holder all the same, and one that lives but forgets to release holds for ever.
 *
 * Step points: `granted`; `before-renewal`.
 */
import type { LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { keepRenewed } from './renewal.js';
import { attempt, PAUSE_BETWEEN_TRIES } from './set-nx-px.js';

export default defineLock({
  name: 'watchdog',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['renews'],
  async connect(access) {
    const redis = await access.redis();
    return {
      async acquire(key, options) {
        const hold = await tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () =>
          attempt(access, redis, key, options.leaseMs),
        );
        const renewing = renewingHold(access, hold, options.leaseMs);
        await access.step('granted');
        return renewing;
      },
    };
  },
});

/** Without `validForMs`: it is good for as long as it is renewed, and `lost` tells when it no longer is. */
export function renewingHold(access: TopologyAccess, hold: LockHold, leaseMs: number): LockHold {
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs: hold.grantSentNs!,
    renew: async () => (await hold.extend!(leaseMs)) !== null,
    renewed: (sentNs) => access.renewed(renewing, sentNs, leaseMs),
  });
  const renewing: LockHold = {
    grantSentNs: hold.grantSentNs!,
    lost: watchdog.lost,
    release() {
      watchdog.stop();
      return hold.release();
    },
  };
  return renewing;
}
