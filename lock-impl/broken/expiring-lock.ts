/**
 * The lock that most applications write for themselves, put together from parts, so that a canary and its mended twin
 * differ in the one part that is the mistake and in nothing else.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition } from '../../harness/api.js';
import { tryUntilGranted, validForMs, whyNotDone } from '../attempts.js';
import { defineLock } from '../define-lock.js';

export interface Parts {
  /** What PX is given for a lease. */
  px(leaseMs: number): number;
  /** True if the lock was ours until now. */
  release(redis: Redis, key: string, owner: string): Promise<boolean>;
}

/** SET NX PX with a random value, and with these parts. */
export function expiringLock(name: string, parts: Parts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    async connect(access) {
      const redis = await access.redis();
      const attempt = async (key: string, leaseMs: number) => {
        const owner = access.randomValue();
        const sentNs = access.nowNs();
        try {
          const reply = await redis.set(key, owner, 'PX', parts.px(leaseMs), 'NX');
          if (reply === null) return { refusedBecause: 'held' };
        } catch (error) {
          const reason = whyNotDone(error);
          if (reason === undefined) throw error;
          return { refusedBecause: reason };
        }
        const release = () => parts.release(redis, key, owner);
        return { hold: { release, grantSentNs: sentNs, validForMs: validForMs(access, sentNs, leaseMs) } };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, { minMs: 10, maxMs: 30 }, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

/** PX takes milliseconds, as the lease is given. */
export function leaseInMs(leaseMs: number): number {
  return leaseMs;
}
