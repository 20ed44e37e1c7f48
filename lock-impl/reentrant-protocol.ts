/** What a reentrant lock keeps on its server: one hash, owner → count, that expires. See `scripts/reentrant-take.ts`. */
import type { Redis } from 'ioredis';
import type { Protocol, TakeResult } from './reentrant-lock.js';
import { forceUnlock } from './scripts/force-unlock.js';
import { reentrantGiveBack } from './scripts/reentrant-give-back.js';
import { reentrantTake } from './scripts/reentrant-take.js';
import { renewIfOwner } from './scripts/renew-if-owner.js';
import type { Waiting } from './waiting.js';

/** `channel`: on which the last unlock is published; '': no client listens. */
export function reentrantProtocol(redis: Redis, key: string, channel: string, waiting: () => Waiting): Protocol {
  return {
    async take(owner, leaseMs) {
      return takenFrom((await redis.eval(reentrantTake, 1, key, owner, leaseMs)) as [number, number]);
    },
    giveBack: (owner, leaseMs) =>
      redis.eval(reentrantGiveBack, 1, key, owner, leaseMs, channel) as Promise<number | null>,
    waiting,
    ...oneOwner(redis, key),
    forceUnlock: async () => (await redis.eval(forceUnlock, 1, key, channel)) === 1,
  };
}

/** What is the same for every lock whose hash has one owner. */
export function oneOwner(redis: Redis, key: string): Pick<Protocol, 'renew' | 'holders' | 'holdCount'> {
  return {
    renew: async (owner, leaseMs) => (await redis.eval(renewIfOwner, 1, key, owner, leaseMs)) === 1,
    holders: () => redis.exists(key),
    holdCount: async (owner) => Number((await redis.hget(key, owner)) ?? 0),
  };
}

/** From what a script of this family returns: whether it was granted, and how often it is held or when to come again. */
export function takenFrom([granted, number]: readonly [number, number, ...unknown[]]): TakeResult {
  if (granted === 1) return { granted: true, depth: number };
  // An expiry that the server does not know cannot be waited for.
  return { granted: false, why: 'held', againInMs: number < 0 ? Number.POSITIVE_INFINITY : number };
}
