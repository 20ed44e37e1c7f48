/**
 * SET NX PX with a random value, released and extended by scripts that compare it first: the lock that Redis itself
 * documents for one server.
 *
 * It promises that no client ever releases or extends another's lock. It excludes fencing, fairness, renewal, and any
 * promise beyond the life of what one server remembers: a failover can forget a grant.
 */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockClient, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { answerOrRefusal, byScripts, heldKeyBy, type OwnedKeyCommands } from './owned-key.js';

/** Between two tries. */
export const PAUSE_BETWEEN_TRIES = { minMs: 10, maxMs: 30 };

export default defineLock({
  name: 'set-nx-px',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  features: ['extend'],
  async connect(access) {
    return leasesBy(access, await access.redis(), byScripts);
  },
});

/** The client of such a lock; `by`: with which commands. */
export function leasesBy<Client>(access: TopologyAccess, redis: Client, by: OwnedKeyCommands<Client>): LockClient {
  return {
    acquire: (key: string, options: AcquireOptions) =>
      tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attemptBy(by, access, redis, key, options.leaseMs)),
  };
}

/** One try, by scripts. */
export function attempt(access: TopologyAccess, redis: Redis, key: string, leaseMs: number): Promise<Attempt> {
  return attemptBy(byScripts, access, redis, key, leaseMs);
}

async function attemptBy<Client>(
  by: OwnedKeyCommands<Client>,
  access: TopologyAccess,
  redis: Client,
  key: string,
  leaseMs: number,
): Promise<Attempt> {
  const mine = { redis, key, owner: access.randomValue() };
  const sentNs = access.nowNs();
  // Sent and not answered: it may be ours now. Only the caller can decide what to do with a doubt, so that is thrown.
  const result = await answerOrRefusal(by.take(mine, leaseMs));
  if ('refusedBecause' in result) return result;
  if (!result.answer) return { refusedBecause: 'held' };

  const hold = heldKeyBy(by, access, mine, sentNs, leaseMs);
  if (hold.validForMs > 0) return { hold };
  // The answer came when the lease was as good as over: useless to the caller, so give it back. If that fails the
  // lease ends by itself.
  await hold.release().catch(() => {});
  return { refusedBecause: 'granted-late' };
}
