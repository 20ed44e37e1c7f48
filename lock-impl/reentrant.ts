/**
 * A reentrant lock with a watchdog: a hash, owner → count, with an expiry. A client that is refused learns for how long the
 * holder's lease still runs, and sleeps for so long or until an unlock is published. `reentrant-lock.ts` has all forms of it.
 *
 * It promises what `watchdog` does, to callers that may lock again what they hold, and with waiters that cost the server
 * nothing while they wait. A wake-up that is lost costs one lease at most. It excludes fairness and fencing.
 *
 * Step points: `granted`; `before-renewal`.
 */
import { defineLock } from './define-lock.js';
import { companionKey } from './keys.js';
import { ownedLocks } from './owned-locks.js';
import { reentrantProtocol } from './reentrant-protocol.js';
import { listening } from './waiting.js';

export default defineLock({
  name: 'reentrant',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['renews', 'reentrant'],
  model: { kind: 'reentrant', depth: 4 },
  async connect(access) {
    const redis = await access.redis();
    return ownedLocks(access, (key) => {
      const channel = companionKey(key, 'free');
      return reentrantProtocol(redis, key, channel, () => listening(access, channel));
    });
  },
});
