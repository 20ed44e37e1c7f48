/**
 * `reentrant` without pub/sub: a client that is refused tries again after pauses that double from 1 ms to 128 ms. The choice
 * where there are many locks with little contention, and a published message for each unlock is a waste, as on a large
 * Cluster.
 *
 * It promises what `reentrant` does, but for the wake-up: a free lock is found within one pause, at the price of a command
 * for each.
 *
 * Step points: `granted`; `before-renewal`.
 */
import { defineLock } from './define-lock.js';
import { ownedLocks } from './owned-locks.js';
import { reentrantProtocol } from './reentrant-protocol.js';
import { backingOff } from './waiting.js';

const backOff = { minMs: 1, maxMs: 128 };

export default defineLock({
  name: 'spin',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['renews', 'reentrant'],
  model: { kind: 'reentrant', depth: 4 },
  async connect(access) {
    const redis = await access.redis();
    return ownedLocks(access, (key) => reentrantProtocol(redis, key, '', () => backingOff(access, backOff)));
  },
});
