/** What a fair lock keeps on its server: the reentrant lock's hash, a queue, and its waiters' deadlines. See `scripts/`. */
import type { Redis } from 'ioredis';
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import { companionKey } from './keys.js';
import type { Protocol } from './reentrant-lock.js';
import { oneOwner, takenFrom } from './reentrant-protocol.js';
import { fairForceUnlock } from './scripts/fair-force-unlock.js';
import { fairGiveBack } from './scripts/fair-give-back.js';
import { fairLeave } from './scripts/fair-leave.js';
import { fairTake } from './scripts/fair-take.js';
import { listening } from './waiting.js';

type TakeReply = [granted: number, number: number, why: string, queued: number];

export function fairProtocol(access: TopologyAccess, redis: Redis, key: string): Protocol {
  const keys = [key, companionKey(key, 'queue'), companionKey(key, 'deadlines')];
  const channels = `${companionKey(key, 'free')}:`;
  return {
    async take(owner, leaseMs, waitsMs) {
      const reply = (await redis.eval(fairTake, 3, ...keys, owner, leaseMs, waitsMs)) as TakeReply;
      const taken = takenFrom(reply);
      return taken.granted ? taken : { ...taken, why: reply[2], queued: reply[3] === 1 };
    },
    giveBack: (owner, leaseMs) =>
      redis.eval(fairGiveBack, 3, ...keys, owner, leaseMs, channels) as Promise<number | null>,
    leave: async (owner) => {
      await redis.eval(fairLeave, 3, ...keys, owner, channels);
    },
    comesBackWithin: 1 / 3,
    waiting: (owner) => listening(access, `${channels}${owner}`),
    ...oneOwner(redis, key),
    forceUnlock: async () => (await redis.eval(fairForceUnlock, 3, ...keys, channels)) === 1,
  };
}
