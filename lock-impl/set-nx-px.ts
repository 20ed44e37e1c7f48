/**
 * SET NX PX with a random value, released and extended by scripts that compare it first: the lock that Redis itself
 * documents for one server.
 *
 * It promises that nobody ever releases or extends another's lock. It excludes fencing, fairness, renewal, and any
 * promise beyond the life of what one server remembers: a failover can forget a grant.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/api.js';
import { type Attempt, tryUntilGranted, validForMs, whyNotDone } from './attempts.js';
import { defineLock, refused } from './define-lock.js';
import { extendIfMine } from './scripts/extend-if-mine.js';
import { releaseIfMine } from './scripts/release-if-mine.js';

const pause = { minMs: 10, maxMs: 30 };

export default defineLock({
  name: 'set-nx-px',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['extend'],
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key: string, options: AcquireOptions) =>
        tryUntilGranted(access, options, pause, () => attempt(access, redis, key, options.leaseMs)),
    };
  },
});

async function attempt(access: TopologyAccess, redis: Redis, key: string, leaseMs: number): Promise<Attempt> {
  const owner = access.randomValue();
  const sentNs = access.nowNs();
  let reply: 'OK' | null;
  try {
    reply = await redis.set(key, owner, 'PX', leaseMs, 'NX');
  } catch (error) {
    const reason = whyNotDone(error);
    // Sent and not answered: it may be ours now. Only the caller can decide what to do with a doubt.
    if (reason === undefined) throw error;
    return { refusedBecause: reason };
  }
  if (reply === null) return { refusedBecause: 'held' };

  const hold = heldLock(access, redis, key, owner, sentNs, leaseMs);
  if (hold.validForMs! > 0) return { hold };
  // The answer came when the lease was as good as over: useless to the caller, so give it back. If that fails the
  // lease ends by itself.
  await hold.release().catch(() => {});
  return { refusedBecause: 'granted-late' };
}

function heldLock(
  access: TopologyAccess,
  redis: Redis,
  key: string,
  owner: string,
  sentNs: number,
  leaseMs: number,
): LockHold {
  return {
    validForMs: validForMs(access, sentNs, leaseMs),
    grantSentNs: sentNs,
    async release() {
      return (await certainOrDoubtful(redis.eval(releaseIfMine, 1, key, owner))) === 1;
    },
    async extend(newLeaseMs) {
      const extensionSentNs = access.nowNs();
      const extended = await certainOrDoubtful(redis.eval(extendIfMine, 1, key, owner, newLeaseMs));
      return extended === 1 ? { validForMs: validForMs(access, extensionSentNs, newLeaseMs) } : null;
    },
  };
}

/** Turns errors that mean "certainly not executed" into refusals. */
async function certainOrDoubtful<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    const reason = whyNotDone(error);
    throw reason === undefined ? error : refused(reason);
  }
}
