/**
 * SET NX PX with a fencing token: one script takes the lock and counts up, so that no two grants get the same token and
 * a later grant always gets a greater one. A resource that refuses a token smaller than one it has seen cannot be harmed
 * by a holder whose lease ran out unnoticed.
 *
 * It promises what `set-nx-px` does, and rising tokens as long as the server keeps the counter. It excludes promises
 * beyond that: a failover that forgets the last count, a restart without persistence or an eviction gives tokens twice.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { companionKey } from './keys.js';
import { answerOf, answerOrRefusal, giveBack, heldKey } from './owned-key.js';

import { takeWithToken } from './scripts/take-with-token.js';

const pause = { minMs: 10, maxMs: 30 };

export default defineLock({
  name: 'fenced',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['extend', 'fencing'],
  model: { kind: 'fenced' },
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key: string, options: AcquireOptions) =>
        tryUntilGranted(access, options, pause, () => attempt(access, redis, key, options.leaseMs)),
    };
  },
});

async function attempt(access: TopologyAccess, redis: Redis, key: string, leaseMs: number): Promise<Attempt> {
  const mine = { redis, key, owner: access.randomValue() };
  const sentNs = access.nowNs();
  const counter = companionKey(key, 'fence');
  const result = await answerOrRefusal(redis.eval(takeWithToken, 2, key, counter, mine.owner, leaseMs));
  if ('refusedBecause' in result) return result;
  const token = Number(result.answer);
  if (token === 0) return { refusedBecause: 'held' };

  const hold = { ...heldKey(access, mine, sentNs, leaseMs), token };
  if (hold.validForMs > 0) return { hold };
  await answerOf(giveBack(mine));
  return { refusedBecause: 'granted-late' };
}
