/**
 * A read ("is it there?"), then a put with a lease: no transaction, so two clients that read at once both hold it, and the
 * second one's put takes the key from the first. Its release ends its own lease only, by which the key is no longer there once
 * another has put it: `etcd-lease`, which creates the key in a transaction, is the twin.
 */
import { putLock } from './put-lock.js';

export default putLock({
  name: 'etcd-read-then-put',
  async isFree(etcd, key) {
    const { count } = await etcd.ask('kv/range', { key, count_only: true });
    return count === undefined || count === '0';
  },
  async store(etcd, put) {
    await etcd.ask('kv/put', put);
    return true;
  },
  release: (etcd, { lease }) => etcd.ask('lease/revoke', { ID: lease }),
});
