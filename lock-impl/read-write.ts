/**
 * A read-write lock with a watchdog: readers share it, a writer excludes everybody else. Every holder has a lease of its
 * own, and each mode is a reentrant lock (`reentrant-lock.ts` has all forms of it).
 *
 * It promises that no writer holds beside anybody else. Who writes may read as well, and keeps reading when it has stopped
 * writing; who reads and then wants to write is in its own way until it stops reading: two that did it at once would wait for
 * each other. It excludes fairness: while readers come and go a writer may starve.
 *
 * Step points: `granted`; `before-renewal`.
 */
import { defineLock } from './define-lock.js';
import { ownedLocks } from './owned-locks.js';
import { readWriteProtocol } from './read-write-protocol.js';

export default defineLock({
  name: 'read-write',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['renews', 'reentrant', 'shared', 'downgrade'],
  model: { kind: 'read-write' },
  async connect(access) {
    const redis = await access.redis();
    return ownedLocks(access, (key, mode) => readWriteProtocol(access, redis, key, mode));
  },
});
