/** What the canaries have in common that put a key with an etcd lease: each makes its one mistake in a part that it brings. */
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { base64, type Gateway, gatewayOf } from './gateway.js';
import { certain, newLease, revoke, undoubted } from './leases.js';

const pause = { minMs: 20, maxMs: 50 };

/** A key and what is to be stored there, as the gateway takes it. */
export interface Put {
  key: string;
  value: string;
  lease: string;
}

interface PutLock {
  name: string;
  /** Asked before there is a lease; absent: nobody asks. */
  isFree?(etcd: Gateway, key: string): Promise<boolean>;
  /** False: it was not stored. */
  store(etcd: Gateway, put: Put): Promise<boolean>;
  release(etcd: Gateway, put: Put): Promise<unknown>;
}

export function putLock({ name, isFree, store, release }: PutLock): LockDefinition {
  return defineLock({
    name,
    topologies: ['etcd', 'etcd-single'],
    async connect(access) {
      const etcd = gatewayOf(access);
      return {
        acquire: (key, options) =>
          tryUntilGranted(access, options, pause, async () => {
            const encoded = base64(key);
            if (isFree && !(await undoubted(isFree(etcd, encoded)))) return { refusedBecause: 'held' };
            const sentNs = access.nowNs();
            const lease = await undoubted(newLease(etcd, options.leaseMs));
            const put = { key: encoded, value: base64(access.ownerValue()), lease };
            if (!(await certain(store(etcd, put)))) {
              revoke(etcd, lease);
              return { refusedBecause: 'held' };
            }
            return {
              hold: {
                grantSentNs: sentNs,
                validForMs: validForMs(access, sentNs, options.leaseMs),
                release: async () => void (await release(etcd, put)),
              },
            };
          }),
      };
    },
  });
}
