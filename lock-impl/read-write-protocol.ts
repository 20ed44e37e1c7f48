/** What a read-write lock keeps on its server: who holds it in which mode, and until when. See `scripts/read-write-state.ts`. */
import type { Redis } from 'ioredis';
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import type { LockMode } from '../harness/vocabulary/protocol.js';
import { companionKey } from './keys.js';
import type { Protocol } from './reentrant-lock.js';
import { takenFrom } from './reentrant-protocol.js';
import { readWriteCount } from './scripts/read-write-count.js';
import { readWriteForceUnlock } from './scripts/read-write-force-unlock.js';
import { readWriteGiveBack } from './scripts/read-write-give-back.js';
import { readWriteRenew } from './scripts/read-write-renew.js';
import { readWriteTake } from './scripts/read-write-take.js';
import { listening } from './waiting.js';

/** One mode of the lock `key`. */
export function readWriteProtocol(access: TopologyAccess, redis: Redis, key: string, mode: LockMode): Protocol {
  const keys = [key, companionKey(key, 'leases')];
  const channel = companionKey(key, 'free');
  const count = (owner: string) => redis.eval(readWriteCount, 2, ...keys, mode, owner) as Promise<[number, number]>;
  return {
    async take(owner, leaseMs) {
      return takenFrom((await redis.eval(readWriteTake, 2, ...keys, owner, leaseMs, mode)) as [number, number]);
    },
    giveBack: (owner, leaseMs) =>
      redis.eval(readWriteGiveBack, 2, ...keys, owner, leaseMs, mode, channel) as Promise<number | null>,
    renew: async (owner, leaseMs) => (await redis.eval(readWriteRenew, 2, ...keys, owner, leaseMs, mode)) === 1,
    waiting: () => listening(access, channel),
    holders: async () => (await count(''))[0],
    holdCount: async (owner) => (await count(owner))[1],
    forceUnlock: async () => (await redis.eval(readWriteForceUnlock, 2, ...keys, mode, channel)) === 1,
  };
}
