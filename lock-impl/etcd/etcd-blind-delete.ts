/**
 * A key that is created in a transaction with an etcd lease, as it should be; but its release deletes the key, whoever it is of by
 * then: a client that slept past its lease takes the lock from the next holder. `etcd-lease`, which ends its own lease, is the twin.
 */
import { putLock } from './put-lock.js';

export default putLock({
  name: 'etcd-blind-delete',
  async store(etcd, put) {
    const compare = [{ key: put.key, target: 'CREATE', result: 'EQUAL', create_revision: '0' }];
    const { succeeded } = await etcd.ask('kv/txn', { compare, success: [{ request_put: put }] });
    return succeeded === true;
  },
  release: (etcd, { key }) => etcd.ask('kv/deleterange', { key }),
});
