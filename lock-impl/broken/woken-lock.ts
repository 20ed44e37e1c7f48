/**
 * `reentrant`, whose waiters sleep until an unlock is published, and for as long as `againInMs` makes of the holder's lease.
 */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../define-lock.js';
import { companionKey } from '../keys.js';
import { ownedLocks } from '../owned-locks.js';
import type { Protocol } from '../reentrant-lock.js';
import { reentrantProtocol } from '../reentrant-protocol.js';
import { listening } from '../waiting.js';

/** For how long a waiter may sleep at most if nothing is published; `leaseLeftMs`: when the holder's lease is over. */
export type SleepAtMost = (leaseLeftMs: number) => number;

export function wokenLock(name: string, sleepAtMostMs: SleepAtMost): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    features: ['renews', 'reentrant'],
    model: { kind: 'reentrant', depth: 4 },
    async connect(access) {
      const redis = await access.redis();
      return ownedLocks(access, (key): Protocol => {
        const channel = companionKey(key, 'free');
        const protocol = reentrantProtocol(redis, key, channel, () => listening(access, channel));
        return {
          ...protocol,
          async take(owner, leaseMs, waitsMs) {
            const taken = await protocol.take(owner, leaseMs, waitsMs);
            return taken.granted ? taken : { ...taken, againInMs: sleepAtMostMs(taken.againInMs) };
          },
        };
      });
    },
  });
}
