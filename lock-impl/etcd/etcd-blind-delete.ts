/**
 * A key that is created in a transaction with an etcd lease, as it should be; but its release deletes the key, whoever it is of by
 * then: a client that slept past its lease takes the lock from the next holder. `etcd-lease`, which ends its own lease, is the twin.
 */
import { tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { base64, gatewayOf } from './gateway.js';
import { certain, newLease, revoke, undoubted } from './leases.js';

const pause = { minMs: 20, maxMs: 50 };

export default defineLock({
  name: 'etcd-blind-delete',
  topologies: ['etcd', 'etcd-single'],
  async connect(access) {
    const etcd = gatewayOf(access);
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, pause, async () => {
          const sentNs = access.nowNs();
          const lease = await undoubted(newLease(etcd, options.leaseMs));
          const value = base64(access.ownerValue());
          const { succeeded } = await certain(
            etcd.ask('kv/txn', {
              compare: [{ key: base64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' }],
              success: [{ request_put: { key: base64(key), value, lease } }],
            }),
          );
          if (succeeded !== true) {
            revoke(etcd, lease);
            return { refusedBecause: 'held' };
          }
          return {
            hold: {
              grantSentNs: sentNs,
              validForMs: validForMs(access, sentNs, options.leaseMs),
              release: async () => void (await etcd.ask('kv/deleterange', { key: base64(key) })),
            },
          };
        }),
    };
  },
});
