/**
 * The lock that most applications write for themselves, put together from parts, so that locks which differ in one part
 * differ in nothing else: a canary and its mended twin, or two steps of the ladder.
 *
 * SET NX PX with a random value. What it promises beyond that depends on how it is released.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, certainOrDoubtful, tryUntilGranted, validForMs, whyNotDone } from './attempts.js';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { PAUSE_BETWEEN_TRIES } from './set-nx-px.js';
import { type ClientSettings, clientsOf } from './third-party/clients.js';

export interface Parts {
  /** Whose settings its client has; absent: the harness's. On a Cluster there are no others. */
  clients?: ClientSettings;
  /** What PX is given for a lease, `waitedMs` after the acquire began. */
  px(leaseMs: number, waitedMs: number): number;
  /** What is stored for an owner; absent: its value as it is. */
  stored?(owner: string): string;
  /** True if the lock was ours until now. */
  release(redis: Redis, key: string, owner: string, access: TopologyAccess): Promise<boolean>;
  /** What its callers do of a try that granted nothing, or that they do not know of; absent: nothing. `owner`: of its last attempt. */
  ungranted?(redis: Redis, key: string, owner: string): Promise<unknown>;
}

export function expiringLock(name: string, parts: Parts): LockDefinition {
  return defineLock({
    name,
    topologies: parts.clients === 'defaults' ? ['single', 'replica', 'sentinel'] : ONE_SERVER,
    async connect(access) {
      const redis = parts.clients ? (await clientsOf(access, parts.clients))[0]! : await access.redis();
      const { stored = (owner: string) => owner } = parts;
      const attempt = async (key: string, owner: string, leaseMs: number, beganNs: number): Promise<Attempt> => {
        const sentNs = access.nowNs();
        try {
          const px = parts.px(leaseMs, (sentNs - beganNs) / 1e6);
          const reply = await redis.set(key, stored(owner), 'PX', px, 'NX');
          if (reply === null) return { refusedBecause: 'held' };
        } catch (error) {
          const reason = whyNotDone(error);
          if (reason === undefined) throw error;
          return { refusedBecause: reason };
        }
        const hold: LockHold = {
          release: () => certainOrDoubtful(parts.release(redis, key, owner, access)),
          grantSentNs: sentNs,
          validForMs: validForMs(access, sentNs, leaseMs),
        };
        return { hold };
      };
      return {
        async acquire(key: string, options: AcquireOptions) {
          const beganNs = access.nowNs();
          let owner = '';
          try {
            return await tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => {
              owner = access.randomValue();
              return attempt(key, owner, options.leaseMs, beganNs);
            });
          } catch (refusedOrUnknown) {
            // Whatever comes of it: what is told is how the try ended.
            await parts.ungranted?.(redis, key, owner).catch(() => {});
            throw refusedOrUnknown;
          }
        },
      };
    },
  });
}

/** PX takes milliseconds, as the lease is given. */
export function leaseInMs(leaseMs: number): number {
  return leaseMs;
}
