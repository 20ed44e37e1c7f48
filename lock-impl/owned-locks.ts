/**
 * Puts locks that know their owner (`reentrant-lock.ts`) behind what the harness asks for: each acquire is a
 * `tryLock(wait)` whose lease is the watchdog's, and an acquire of what this client holds already nests.
 */
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import type { LockMode } from '../harness/vocabulary/protocol.js';
import { type OwnerHold, type Protocol, ReentrantLock } from './reentrant-lock.js';

/** Who asks, where nobody else does. */
const CALLER = '1';

/** Adapts the lock that `protocolOf` describes for a key, and for a mode if there are two. */
export function ownedLocks(access: TopologyAccess, protocolOf: (key: string, mode: LockMode) => Protocol) {
  const clientId = access.randomValue();
  const locks = new Map<string, ReentrantLock>();
  const holdOf = new WeakMap<OwnerHold, LockHold>();

  const lockOf = (key: string, mode: LockMode, watchdogMs: number, caller: string) => {
    const name = `${caller} ${mode} ${key}`;
    const known = locks.get(name);
    if (known) return known;
    const lock = new ReentrantLock({
      access,
      protocol: protocolOf(key, mode),
      owner: `${clientId}:${caller}`,
      watchdogMs,
      onRenewed(grants, sentNs, leaseMs) {
        for (const grant of grants) {
          const hold = holdOf.get(grant);
          if (hold) access.renewed(hold, sentNs, leaseMs);
        }
      },
    });
    locks.set(name, lock);
    return lock;
  };

  return {
    async acquire(key: string, options: AcquireOptions): Promise<LockHold> {
      const { leaseMs, waitMs, mode = 'write', signal, caller = CALLER } = options;
      const lock = lockOf(key, mode, leaseMs, caller);
      const grant = await lock.acquire({ leaseMs, watched: true, waitMs, signal });
      // Without `validForMs`: it is good for as long as it is renewed, and `lost` tells when it no longer is.
      const hold = { grantSentNs: grant.sentNs, lost: grant.lost, release: () => lock.release(grant) };
      holdOf.set(grant, hold);
      return hold;
    },
  };
}
